/// Lists the photos of a token's user.
package struct ListPhotos: Sendable {
    let photos: PhotoStore
    let guesses: TokenGuesses
    let uses: SessionUseRecorder

    /// Checks the token and lists with one statement.
    ///
    /// Notes that the session was used.
    ///
    /// - Parameters:
    ///   - token: As the client sent it.
    ///   - source: Where the request came from.
    /// - Returns: The list. Its session may have expired.
    /// - Throws: `SessionError.ended` for a token without a session, `RateLimitExceeded`, `PostgresError`.
    package func callAsFunction(
        token: String,
        from source: @autoclosure () -> RequestSource
    ) async throws -> PhotoList {
        guard let list = try await photos.list(token: token) else {
            throw try await guesses.refusal(from: source())
        }
        uses.note(list.sessionID)
        return list
    }
}
