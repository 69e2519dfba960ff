/// Whether the database can be reached, as far as the last attempts to connect tell.
package enum PostgresReachability: Sendable, Equatable {
    /// It can't; the text is libpq's, without the URL's password.
    case unreachable(reason: String)
    /// It can again.
    case reachable
}
