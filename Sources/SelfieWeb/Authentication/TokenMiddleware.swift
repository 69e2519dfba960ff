import Hummingbird
import SelfieCore

/// Finds the session that a request's token names; an unknown token goes no further.
///
/// An expired one does, since each endpoint has its own text for it, after its look at the parameters.
struct TokenMiddleware: ServiceMiddleware {
    let findSession: FindSession
    let sources: RequestSourceReader

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = AuthorizationHeader.token(in: request.headers) else { throw SessionError.ended }
        let source = { sources.source(of: request, context: context) }
        var authenticated = context
        authenticated.session = try await findSession(token: token, from: source())
        return try await next(request, authenticated)
    }
}
