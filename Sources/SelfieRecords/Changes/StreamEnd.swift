import Postgres

/// The end of a stream when it was read.
///
/// PostgreSQL may assign a number again after an older copy of its folder was put back. To put back a folder,
/// PostgreSQL must be started again. So a number and the start under which it was assigned always name one change, and
/// all before it. An index and a term do the same in the log of Raft.
struct StreamEnd: Sendable, Equatable {
    /// The number of the last change; 0 before the first.
    let number: Int
    /// The time of PostgreSQL's start under which that number was assigned, in microseconds since 1970.
    let postgresStart: Int

    /// The start of PostgreSQL in a column, as microseconds since 1970; 0 for a number from before starts were stored.
    static func microseconds(of column: PostgresQuery) -> PostgresQuery {
        "(extract(epoch FROM coalesce(\(part: column), to_timestamp(0))) * 1000000)::bigint"
    }

    /// Whether a stream of `streams` no longer has a number that was assigned under a start.
    ///
    /// `stream_starts` keeps the last sixteen starts of a stream. Numbers from before have no start.
    static func isLost(_ number: PostgresQuery, givenUnder start: PostgresQuery) -> PostgresQuery {
        """
        \(part: number) > 0 AND (\(part: number) > streams.seq OR \(part: start) IS DISTINCT FROM (
            SELECT \(part: microseconds(of: "started_at")) FROM stream_starts
            WHERE stream_id = streams.id AND last_before < \(part: number) ORDER BY last_before DESC LIMIT 1
        ))
        """
    }
}
