import Hummingbird

/// Finds the session that a request's token names; an unknown token goes no further.
///
/// An expired one does, since each endpoint has its own text for it, after its look at the parameters.
struct TokenMiddleware: RouterMiddleware {
    typealias Context = ServiceRequestContext

    let sessions: SessionStore
    let guesses: TokenGuesses
    let uses: SessionUseRecorder

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let token = AuthorizationHeader.value(in: request.headers).flatMap(AuthorizationHeader.token) else {
            throw ServiceError.tokenAccessDenied
        }
        guard let session = try await sessions.find(token: token) else {
            throw try await guesses.refusal(of: request, context: context)
        }
        uses.note(session.id)
        var context = context
        context.session = session
        return try await next(request, context)
    }
}
