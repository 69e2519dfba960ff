import Encodings
import HTTPTypes
import Hummingbird

/// Lets pages of some origins call the API from a browser.
///
/// Others get no header that would let their pages see an answer. Cookies are never allowed: only the gallery's own pages use one.
/// Source: WHATWG, "Fetch", section 3.2 "CORS protocol".
struct CORSMiddleware: ServiceMiddleware {
    /// Such as `https://app.example.com`.
    let origins: Set<String>
    /// All that some endpoint has.
    let methods: [HTTPRequest.Method]

    // The last four are of apps that were made for DreamFactory.
    private static let allowedHeaders =
        [
            "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "If-Range",
            "Last-Event-ID", "Range", "traceparent", "X-Request-Id",
            "X-DreamFactory-Session-Token", "X-DreamFactory-Application-Name", "X-HTTP-Method", "X-Requested-With",
        ].joined(separator: ", ")
    private static let exposedHeaders = [
        "Content-Range", "ETag", "Idempotency-Replayed", "Link", "RateLimit-Limit", "RateLimit-Policy",
        "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id",
    ].joined(separator: ", ")
    /// For how long browsers remember what is allowed, in seconds; they take two hours at most.
    private static let maxAge = "7200"

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard !origins.isEmpty else { return try await next(request, context) }
        let origin = request.headers[.origin].flatMap { sent in origins.first(where: sent.hasSameBytes) }
        var response: Response
        if let origin, request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response = preflightAnswer
            response.headers[.accessControlAllowOrigin] = origin
        } else {
            response = try await next(request, context)
            if let origin {
                response.headers[.accessControlAllowOrigin] = origin
                response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
            }
        }
        // Also for those without, so that no cache gives their answer to a page of an origin.
        response.headers.addVary("Origin")
        return response
    }

    private var preflightAnswer: Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
                .accessControlAllowHeaders: Self.allowedHeaders,
                .accessControlMaxAge: Self.maxAge,
            ]
        )
    }
}
