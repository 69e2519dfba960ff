import Budgets
import Hummingbird
import SelfieAccounts

/// Finds the session of a request's token, and refuses an unknown token.
///
/// An expired one reaches its endpoint, which refuses it after its parameters, with its own text.
struct TokenMiddleware: ServiceMiddleware {
    let findSession: FindSession
    let sources: RequestSourceReader
    /// The requests of each session that are being answered.
    let sessionRequests: Permits<Int>

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = AuthorizationHeader.token(in: request.headers) else { throw SessionError.ended }
        var authenticated = context
        let session = try await findSession(token: token, from: sources.source(of: request, context: context))
        context.notes.note(userID: session.userID)
        let permit = try sessionRequests.acquire(for: session.id)
        defer { withExtendedLifetime(permit) {} }
        authenticated.session = TokenSession(session)
        return try await next(request, authenticated)
    }
}
