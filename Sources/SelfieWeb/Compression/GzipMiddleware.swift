import Budgets
import HTTPTypes
import Hummingbird
import NIOCore

/// Compresses JSON of more than a KiB for clients that ask for it.
///
/// A large answer costs much more processor time than without. So few of them are compressed at once, on threads
/// of their own. The others go out as they are.
struct GzipMiddleware: ServiceMiddleware {
    private let permits = Permits<Bool>("COMPRESSIONS", per: "PROCESS", PermitLimits(total: maxLarge))

    /// Less would hardly become smaller.
    private static let minBytes = 1_024
    /// More is compressed on another thread, while the client reads.
    private static let maxBytesAtOnce = 64 * 1_024
    /// How many large answers are compressed at once.
    static let maxLarge = 2

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        let length = response.body.contentLength ?? .max
        guard response.status == .ok, length > Self.minBytes, response.headers[.contentType] == jsonContentType,
            response.headers[.contentEncoding] == nil
        else { return response }
        response.headers.addVary("Accept-Encoding")
        guard request.method != .head, AcceptedCodings(request.headers[.acceptEncoding]).hasGzip else {
            return response
        }
        if length <= Self.maxBytesAtOnce {
            response.body = try await CompressedBody.whole(response.body, sentOn: context.channel)
        } else {
            guard let permit = try? permits.acquire(for: true) else { return response }
            context.notes.noteStreaming()
            response.body = CompressedBody.streamed(response.body, holding: permit)
        }
        response.headers[.contentEncoding] = "gzip"
        // The bytes are others now, and mean the same (RFC 9110, section 8.8.1).
        if let tag = response.headers[.eTag], !tag.hasPrefix("W/") { response.headers[.eTag] = "W/\(tag)" }
        return response
    }
}
