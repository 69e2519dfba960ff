import HTTPTypes
import Hummingbird

extension Response {
    /// Gives an answer an `ETag`, and answers 304 to a client that has it already, without making the body.
    ///
    /// - Parameters:
    ///   - tag: What changes whenever the body does, in quotes.
    ///   - request: The request, of which `If-None-Match` counts (RFC 9110, section 13.1.2).
    ///   - json: Makes the body.
    /// - Returns: 200 with the body, or 304 without.
    /// - Throws: What `json` throws.
    static func revalidated(tag: String, by request: Request, json: () throws -> JSONWriter) rethrows -> Response {
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "private, max-age=0, must-revalidate"]
        if let known = request.headers[.ifNoneMatch], names(known, tag) {
            return Response(status: .notModified, headers: headers)
        }
        var response = Response(try json())
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    private static func names(_ known: String, _ tag: String) -> Bool {
        known.split(separator: ",").contains { candidate in
            let text = candidate.drop { $0 == " " }
            let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text
            return opaque.prefix { $0 != " " } == tag || opaque == "*"
        }
    }
}
