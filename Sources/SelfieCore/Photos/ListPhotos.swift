/// Lists the photos of a token's user.
package struct ListPhotos: Sendable {
    let photos: PhotoStore
    let guesses: TokenGuesses
    let uses: SessionUseRecorder

    /// Checks the token, and tells what the user's photos come to.
    ///
    /// Notes that the session was used.
    ///
    /// - Parameters:
    ///   - token: As the client sent it.
    ///   - source: Where the request came from.
    /// - Returns: The library. Its session may have expired.
    /// - Throws: `SessionError.ended` for a token without a session, `RateLimitExceeded`, `PostgresError`.
    package func library(
        token: String,
        from source: @autoclosure () -> RequestSource
    ) async throws -> PhotoLibrary {
        guard let library = try await photos.library(token: token) else {
            throw try await guesses.refusal(from: source())
        }
        uses.note(library.sessionID)
        return library
    }

    /// Finds the photos of a list.
    ///
    /// - Parameters:
    ///   - selection: Which photos.
    ///   - token: As the client sent it.
    /// - Returns: The photos, whose rows ``PhotoStore/rows(_:of:)`` reads.
    /// - Throws: `SessionError.ended` when the session has ended, `PhotoError.noSuchPosition`, `PostgresError`.
    package func select(_ selection: PhotoSelection, token: String) async throws -> SelectedPhotos {
        guard let selected = try await photos.select(selection, token: token) else { throw SessionError.ended }
        return selected
    }
}
