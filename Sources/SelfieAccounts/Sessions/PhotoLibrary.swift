package import Postgres

/// A summary of a user's photos.
package struct PhotoLibrary: Sendable, Equatable {
    package let userID: Int
    /// It changes with each change of the user's photos.
    package let version: Version
    /// The number of the user's present series of photos' URLs.
    package let urlSeries: Int

    /// The version of a user's photos.
    package struct Version: Sendable, Equatable {
        /// The number of their last change in the user's stream.
        package let number: Int
        /// When that was, in microseconds since 1970.
        ///
        /// A number may be used again, after a backup was restored.
        package let changedAt: Int
    }
}

extension PhotoLibrary {
    /// The columns of `sessions` and `photo_libraries` that this is read from.
    ///
    /// A user without photos may have no row in the latter.
    package static let columns = """
        sessions.user_id, coalesce(photo_libraries.version, 0) AS version,
        coalesce(photo_libraries.changed_at, 0) AS changed_at, coalesce(url_series, 0) AS url_series
        """

    package init(_ row: PostgresRow) throws {
        userID = try row.decode("user_id")
        version = Version(number: try row.decode("version"), changedAt: try row.decode("changed_at"))
        urlSeries = try row.decode("url_series")
    }

    /// Invalidates all issued URLs of a user's photos.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In a transaction.
    /// - Throws: `PostgresError`.
    package static func endURLs(ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            INSERT INTO photo_libraries AS library (user_id, url_series) VALUES (\(userID), 1)
            ON CONFLICT (user_id) DO UPDATE SET url_series = library.url_series + 1
            """
        )
    }
}
