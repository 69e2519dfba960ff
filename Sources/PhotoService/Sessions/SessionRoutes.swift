import FoundationEssentials
import Hummingbird

/// What a user sees of the sessions that are open, and how one is ended.
///
///     GET    /api/sessions      Token
///     DELETE /api/sessions/:id  Token
struct SessionRoutes: Sendable {
    let sessions: SessionStore
    let sources: RequestSourceReader
    let now: @Sendable () -> Date

    private static let tokenExpired = "Authtoken has expired. Please get a new token and try again!"
    private static let notFound = ServiceError(status: .notFound, message: "There is no such session")

    /// Adds the routes that take a user's token.
    func addTokenRoutes(to group: RouterGroup<SessionRequestContext>) {
        group.get("sessions", use: handleList)
        group.delete("sessions/:id", use: handleEnd)
    }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let date = now()
        try context.session.requireAlive(at: date, otherwise: Self.tokenExpired)
        let list = try await sessions.list(ofUser: context.session.userID, at: date, always: context.session.id)
        var json = JSONWriter()
        json.array(list) { json, session in
            json.object { json in
                json.member("id", String(session.id))
                json.member("device", session.device)
                json.member("created_at", session.creation.contractText)
                json.member("last_used_at", session.lastUse.contractText)
                json.member("expires_at", session.expiry.contractText)
                json.member("current", session.id == context.session.id)
            }
        }
        var response = Response(json)
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }

    @Sendable
    private func handleEnd(request: Request, context: SessionRequestContext) async throws -> Response {
        try context.session.requireAlive(at: now(), otherwise: Self.tokenExpired)
        // Ids of other spellings are nobody's.
        guard let text = context.parameters.get("id"), let id = Int(text), String(id) == text else {
            throw Self.notFound
        }
        let hasEnded = try await sessions.end(
            id: id,
            ofUser: context.session.userID,
            as: .sessionEnded,
            from: sources.source(of: request, context: context)
        )
        guard hasEnded else { throw Self.notFound }
        return .message("Session ended")
    }
}
