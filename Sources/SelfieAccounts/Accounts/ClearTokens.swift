/// Ends the sessions of a user who asks for it.
package struct ClearTokens: Sendable {
    let users: UserStore
    let sessions: SessionStore

    /// Ends the session of the request.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - source: Where the request came from.
    /// - Throws: `SessionError.ended` when it has ended meanwhile, `PostgresError`.
    package func callAsFunction(_ session: Session, from source: RequestSource) async throws {
        let hasEnded = try await sessions.end(id: session.id, ofUser: session.userID, as: .tokenCleared, from: source)
        guard hasEnded else { throw SessionError.ended }
    }

    /// Ends one session of the request's user.
    ///
    /// - Parameters:
    ///   - id: The session's id.
    ///   - userID: The user's id.
    ///   - source: Where the request came from.
    /// - Returns: Whether the user had it.
    /// - Throws: `PostgresError`.
    package func one(_ id: Int, ofUser userID: Int, from source: RequestSource) async throws -> Bool {
        try await sessions.end(id: id, ofUser: userID, as: .sessionEnded, from: source)
    }

    /// Ends all sessions of the request's user, and invalidates all issued URLs of photos.
    ///
    /// - Parameters:
    ///   - session: The session of the request.
    ///   - source: Where the request came from.
    /// - Throws: `SessionError.ended` when it has ended meanwhile, `PostgresError`.
    package func all(by session: Session, from source: RequestSource) async throws {
        try await users.clearTokens(ofUser: session.userID, by: session.id, from: source)
    }
}
