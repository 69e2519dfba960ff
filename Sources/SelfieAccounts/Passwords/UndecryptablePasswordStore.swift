import AESCrypt
import Postgres

/// The table `undecryptable_passwords`: how often clients sent passwords that can't be decrypted, for each day and reason.
struct UndecryptablePasswordStore: Sendable {
    let postgres: PostgresClient

    /// After how many days counts are deleted.
    static let maxDays = 30

    /// Adds to the counts of today.
    ///
    /// - Parameter counts: How often, by reason.
    /// - Throws: `PostgresError`.
    func add(_ counts: [AESCryptFailure: Int]) async throws {
        let sorted = counts.sorted { $0.key.rawValue < $1.key.rawValue }
        try await postgres.write(
            """
            INSERT INTO undecryptable_passwords AS known (reason, count)
            SELECT reason, count FROM unnest(\(sorted.map(\.key.rawValue)), \(sorted.map(\.value))) AS added (reason, count)
            ON CONFLICT (day, reason) DO UPDATE SET count = known.count + excluded.count, last_at = excluded.last_at
            """
        )
    }

    /// Removes counts that are too old.
    ///
    /// - Throws: `PostgresError`.
    func removeOld() async throws {
        try await postgres.write(
            "DELETE FROM undecryptable_passwords WHERE last_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.maxDays)::integer)"
        )
    }
}
