import Budgets
import Hummingbird
import SelfieCore

/// Finds the session of a request's token, and refuses an unknown token.
///
/// An expired one goes on: each endpoint refuses it after its parameters, with its own text.
struct TokenMiddleware: ServiceMiddleware {
    let findSession: FindSession
    let sources: RequestSourceReader
    /// The requests of each session that are under way.
    ///
    /// Whoever has a stolen token takes none from the owner's other sessions.
    let sessionRequests: Places<Int>

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = AuthorizationHeader.token(in: request.headers) else { throw SessionError.ended }
        var authenticated = context
        let session = try await findSession(token: token, from: sources.source(of: request, context: context))
        context.notes.note(userID: session.userID)
        let turn = try sessionRequests.take(for: session.id)
        defer { withExtendedLifetime(turn) {} }
        authenticated.session = TokenSession(session)
        return try await next(request, authenticated)
    }
}
