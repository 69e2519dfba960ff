import Cryptography
import FoundationEssentials
package import Postgres

/// The addresses of accounts: `email` and what is known of it in `users`, and the table `former_emails`.
package struct EmailStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// For how long the owner of a former address can take the account back.
    private static let formerDays = 7

    // MARK: - Proofs

    /// Notes that the user has proven the present address.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In a transaction that has locked the user.
    /// - Throws: `PostgresError`.
    static func prove(_ userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            UPDATE users SET email_verified_at = coalesce(email_verified_at, now() AT TIME ZONE 'UTC'),
                email_refused_at = NULL, provisional_until = NULL
            WHERE id = \(userID)
            """
        )
    }

    /// Notes that a mail server has refused an address for good.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - userID: The account's id; it may have another address by now.
    /// - Throws: `PostgresError`.
    func noteRefusal(of email: String, ofUser userID: Int) async throws {
        try await postgres.write(
            """
            UPDATE users SET email_refused_at = now() AT TIME ZONE 'UTC'
            WHERE id = \(userID) AND lower(btrim(email)) = lower(btrim(\(email)))
            """
        )
    }

    // MARK: - Changes

    /// Gives an account another address, and keeps the account if it was to go without a proof.
    ///
    /// An account that has not proven that address loses it: it gets one that nobody can have.
    ///
    /// - Parameters:
    ///   - email: The new address.
    ///   - old: The present one, and whether it is proven.
    ///   - userID: The account's id.
    ///   - isProven: Whether the user has just proven the new address.
    ///   - connection: In a transaction that has locked the user.
    /// - Throws: `InvalidInput` when another account has proven the address, `PostgresError`.
    static func change(
        to email: String,
        from old: (email: String, isProven: Bool),
        ofUser userID: Int,
        isProven: Bool,
        on connection: PostgresConnection
    ) async throws {
        if isProven {
            try await displace(email, besideUser: userID, on: connection)
        } else {
            try await requireNotFormer(email, besideUser: userID, on: connection)
        }
        if old.isProven {
            try await connection.execute(
                """
                INSERT INTO former_emails (user_id, email, ends_at) VALUES (
                    \(userID), \(old.email), now() AT TIME ZONE 'UTC' + make_interval(days => \(formerDays)::integer)
                )
                ON CONFLICT (lower(btrim(email)), user_id)
                    DO UPDATE SET ends_at = excluded.ends_at, left_at = excluded.left_at
                """
            )
        }
        try await connection.execute(
            """
            UPDATE users SET email = \(email), updated_at = now() AT TIME ZONE 'UTC', email_refused_at = NULL,
                email_verified_at = CASE WHEN \(isProven) THEN now() AT TIME ZONE 'UTC' END,
                provisional_until = NULL
            WHERE id = \(userID)
            """
        )
        // It is the present one now.
        try await connection.execute(
            """
            DELETE FROM former_emails WHERE user_id = \(userID) AND lower(btrim(email)) = lower(btrim(\(email)))
            """
        )
        try await CodeStore.removeAll(ofUser: userID, on: connection)
    }

    /// Refuses an address that another account may take back.
    private static func requireNotFormer(
        _ email: String,
        besideUser userID: Int,
        on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            """
            SELECT FROM former_emails WHERE lower(btrim(email)) = lower(btrim(\(email))) AND user_id <> \(userID)
                AND ends_at > now() AT TIME ZONE 'UTC'
            """
        )
        guard rows.isEmpty else { throw InvalidInput(validationErrors: [ValidationError(.email, .taken)]) }
    }

    /// Takes an address from an account that has not proven it.
    private static func displace(
        _ email: String,
        besideUser userID: Int,
        on connection: PostgresConnection
    ) async throws {
        // `.invalid` never has mail servers (RFC 6761, section 6.4).
        let placeholder = "\(RandomIdentifier.makeSecret())@lost.invalid"
        let rows = try await connection.query(
            """
            UPDATE users SET email = \(placeholder), email_refused_at = now() AT TIME ZONE 'UTC'
            WHERE lower(btrim(email)) = lower(btrim(\(email))) AND id <> \(userID) AND email_verified_at IS NULL
            RETURNING id
            """
        )
        for row in rows {
            let id: Int = try row.decode("id")
            try await CodeStore.removeAll(ofUser: id, on: connection)
            try await AuditStore.add(.emailLost, userID: id, from: nil, on: connection)
        }
    }

    // MARK: - Former addresses

    /// The account that had a proven address a short time ago.
    ///
    /// - Parameter email: The address, in any spelling that counts as the same.
    /// - Returns: Its id, and the address as it had it: only that may get a code. Nil when there is none.
    /// - Throws: `PostgresError`.
    func formerOwner(of email: String) async throws -> (userID: Int, email: String)? {
        try await postgres.read(
            """
            SELECT user_id, email FROM former_emails
            WHERE lower(btrim(email)) = lower(btrim(\(email))) AND ends_at > now() AT TIME ZONE 'UTC'
            ORDER BY ends_at DESC LIMIT 1
            """
        ).first.map { (try $0.decode("user_id"), try $0.decode("email")) }
    }

    /// Ends the rights of the addresses that an account had after a former one.
    ///
    /// They may be a thief's. The older ones are not: they keep their rights, so that no thief can end them.
    static func forgetFormer(after email: String, ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            DELETE FROM former_emails WHERE user_id = \(userID) AND left_at > (
                SELECT left_at FROM former_emails
                WHERE user_id = \(userID) AND lower(btrim(email)) = lower(btrim(\(email)))
            )
            """
        )
    }

    /// Removes former addresses that have no rights any more.
    ///
    /// - Throws: `PostgresError`.
    func removeEnded() async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM former_emails WHERE (user_id, lower(btrim(email))) IN (
                SELECT user_id, lower(btrim(email)) FROM former_emails WHERE ends_at < now() AT TIME ZONE 'UTC'
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }

    /// The address of an account, unless its user was never there, or no mail arrives there.
    package static func emailForNotice(ofUser userID: Int, on connection: PostgresConnection) async throws -> String? {
        try await connection.query(
            """
            SELECT email FROM users WHERE id = \(userID) AND provisional_until IS NULL AND email_refused_at IS NULL
            """
        ).first?.decode("email")
    }

    // MARK: - Accounts without a proof

    /// The ids of some accounts that were made without a password, and whose address was not proven in time.
    ///
    /// - Parameter id: The id after which to begin.
    /// - Returns: The ids, in order.
    /// - Throws: `PostgresError`.
    package func endedProvisionalIDs(after id: Int) async throws -> [Int] {
        try await postgres.read(
            """
            SELECT id::bigint AS id FROM users
            WHERE provisional_until <= now() AT TIME ZONE 'UTC' AND leaving_since IS NULL AND id > \(id)
            ORDER BY id LIMIT 100
            """
        ).map { try $0.decode("id") }
    }

    /// Whether an account is still one of these, in a transaction that has locked it.
    package static func isEndedProvisional(_ userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            "SELECT FROM users WHERE id = \(userID) AND provisional_until <= now() AT TIME ZONE 'UTC'"
        ).isEmpty
    }
}
