import SelfieClient

/// The calls about sessions.
enum SessionCalls {
    static let routes = [
        Route("GET", "api/sessions", .user(list)),
        Route("DELETE", "api/sessions/*", .user(end)),
        Route("GET", "api/clear_token", .user(signOut)),
        Route("POST", "api/clear_token", .user(signOut)),
        Route("DELETE", "api/clear_token", .user(signOut)),
    ]

    private static func list(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) -> ServiceAnswer {
        .json(
            .array(
                state.sessions.list(of: session.userID, at: state.now).map { $0.json(isCurrent: $0.id == session.id) }
            )
        )
    }

    private static func end(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let open = state.sessions.list(of: session.userID, at: state.now)
        guard let ending = open.first(where: { "\($0.id)" == request.path[2] }) else {
            throw ServiceRefusal(status: 404, code: "session_not_found", message: "There is no such session")
        }
        state.endSessions { $0.id == ending.id }
        return .message("Session ended")
    }

    private static func signOut(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        if try request.parameters.flag("all") {
            state.endSessions { $0.userID == session.userID }
            state.photoURLs.end(of: session.userID)
        } else {
            state.endSessions { $0.id == session.id }
        }
        return .message("Token cleared")
    }
}
