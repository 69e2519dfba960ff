import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Gives an answer that is held in memory an `ETag`, and answers 304 to a client that has it already.
    ///
    /// - Parameters:
    ///   - json: The answer's body.
    ///   - request: The request, of which `If-None-Match` counts (RFC 9110, section 13.1.2).
    /// - Returns: 200 with the body, or 304 without.
    static func revalidated(_ json: JSONWriter, by request: Request) -> Response {
        let digest = json.buffer.withUnsafeReadableBytes { SHA256.hash(data: $0) }
        let tag = "\"\(digest.prefix(16).hexadecimal)\""
        let candidates = (request.headers[.ifNoneMatch] ?? "").split(separator: ",").map { candidate in
            let text = candidate.drop { $0 == " " }
            return text.hasPrefix("W/") ? text.dropFirst(2) : text
        }
        let isKnown = candidates.contains { $0.prefix { $0 != " " } == tag || $0 == "*" }
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "private, max-age=0, must-revalidate"]
        guard !isKnown else { return Response(status: .notModified, headers: headers) }
        var response = Response(json)
        for field in headers { response.headers[field.name] = field.value }
        return response
    }
}
