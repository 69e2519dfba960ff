import HTTPTypes
import Hummingbird

/// Takes DreamFactory's session token for the token of the API.
///
/// Nothing else counts, so that a call that was made by another page has no token.
struct DreamFactoryMiddleware: ServiceMiddleware {
    static let header = "X-DreamFactory-Session-Token"
    private static let name = HTTPField.Name(header)

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var head = request.head
        let token = Self.name.flatMap { head.headerFields[$0] }
        head.headerFields[.authorization] = token.map { "Bearer \($0)" }
        return try await next(Request(head: head, body: request.body), context)
    }
}
