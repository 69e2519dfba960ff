import Budgets
import FoundationEssentials
import Hummingbird
import SelfieAccounts

/// Finds the session of a request's token, and refuses an unknown token.
///
/// An expired one is refused before its handler, or by a handler that checks its parameters first.
struct TokenMiddleware: ServiceMiddleware {
    let findSession: FindSession
    let sources: RequestSourceReader
    let now: @Sendable () -> Date
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
        authenticated.session = TokenSession(session, now: now)
        return try await next(request, authenticated)
    }
}
