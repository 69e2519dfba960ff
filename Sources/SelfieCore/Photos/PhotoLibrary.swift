package import FoundationEssentials
import Postgres

/// A token's session, and what its user's photos come to.
package struct PhotoLibrary: Sendable {
    package let userID: Int
    let sessionID: Int
    package let expiry: Date
    /// Another number after each change of the user's photos.
    ///
    /// It only grows.
    package let version: Int
    /// The number of the user's present series of photos' URLs.
    package let urlSeries: Int

    /// The columns that this is made of, of `sessions` and `photo_libraries`.
    static let columns = """
        sessions.user_id, sessions.id AS session_id, expires_at, coalesce(version, 0) AS version,
        coalesce(url_series, 0) AS url_series
        """

    init(_ row: PostgresRow) throws {
        userID = try row.decode("user_id")
        sessionID = try row.decode("session_id")
        expiry = try row.decode("expires_at")
        version = try row.decode("version")
        urlSeries = try row.decode("url_series")
    }
}
