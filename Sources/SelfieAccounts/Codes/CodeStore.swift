import Deliveries
package import FoundationEssentials
package import Postgres

/// Who gets a code.
struct CodeReceiver: Sendable {
    let account: AccountName
    /// Nil for an address without an account: nothing is sent then.
    let userID: Int?
    /// The address that it is sent to, and proves; nil for the account's own.
    var email: String?
}

/// A code that waits to be entered.
package struct WaitingCode: Sendable {
    package let id: UUID
    /// The address that it proves; nil for the account's own.
    package let email: String?
}

/// The table `codes`.
package struct CodeStore: Sendable {
    let postgres: PostgresClient
    let keys: CodeKeys

    /// How long a code works.
    package static let lifetimeSeconds = 600
    /// How many wrong tries end a code, for networks that the account knows and for others.
    private static let maxTries = 5

    // MARK: - Sending

    /// Makes a code, which replaces the one before, and sends it.
    ///
    /// An address without an account costs as many rows, so that its time tells nothing.
    ///
    /// - Parameters:
    ///   - purpose: What the code is for.
    ///   - receiver: Who gets it.
    ///   - delay: How long it waits before it is sent.
    ///   - source: Where the request came from.
    /// - Throws: `PostgresError`.
    func send(
        _ purpose: CodePurpose,
        to receiver: CodeReceiver,
        after delay: Duration,
        from source: RequestSource
    ) async throws {
        let id = UUID()
        let users: PostgresQuery = "SELECT user_id FROM made WHERE user_id IS NOT NULL"
        let event =
            receiver.userID == nil
            ? AuditStore.insertion(of: .codeRequested, from: source)
            : AuditStore.insertion(of: .codeRequested, from: source, forEach: users)
        try await postgres.write(
            """
            WITH made AS (\(part: insertion(of: id, purpose, to: receiver))), audited AS (\(part: event))
            \(part: DeliveryStore.insertion(of: [Self.delivery(of: id, for: purpose, after: delay)]))
            """
        )
    }

    /// The same in a transaction, without an event.
    func send(_ purpose: CodePurpose, to receiver: CodeReceiver, on connection: PostgresConnection) async throws {
        let id = UUID()
        try await connection.execute(
            """
            WITH made AS (\(part: insertion(of: id, purpose, to: receiver)))
            \(part: DeliveryStore.insertion(of: [Self.delivery(of: id, for: purpose)]))
            """
        )
    }

    private func insertion(of id: UUID, _ purpose: CodePurpose, to receiver: CodeReceiver) -> PostgresQuery {
        """
        INSERT INTO codes (id, account, purpose, user_id, email, ends_at)
        SELECT \(id), \(keys.name(of: receiver.account)), \(purpose.rawValue),
            (SELECT id FROM users WHERE id = \(receiver.userID)::bigint AND disabled_at IS NULL FOR KEY SHARE),
            \(receiver.email), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.lifetimeSeconds))
        ON CONFLICT (account, purpose) DO UPDATE SET
            id = excluded.id, user_id = excluded.user_id, email = excluded.email, created_at = excluded.created_at,
            ends_at = excluded.ends_at, known_tries = 0, other_tries = 0
        RETURNING user_id
        """
    }

    private static func delivery(
        of id: UUID,
        for purpose: CodePurpose,
        after delay: Duration = .zero
    ) -> NewDelivery {
        let kind: MailKind =
            switch purpose {
            case .signIn: .signInCode
            case .reset: .resetCode
            case .email: .emailCode
            }
        return MailCause(kind: kind, code: id).delivery(lifetime: .seconds(lifetimeSeconds), delay: delay)
    }

    // MARK: - Entering

    /// Tries a code.
    ///
    /// The try counts as wrong until the code is used up, so that parallel tries can't pass the limit.
    ///
    /// - Parameters:
    ///   - text: As the client sent it.
    ///   - purpose: What it must be for.
    ///   - account: The account.
    ///   - isKnownNetwork: Whether the request comes from where the account was used before. The others have tries of their own.
    /// - Returns: The code; nil when it is not right.
    /// - Throws: `PostgresError`.
    func attempt(
        _ text: String,
        for purpose: CodePurpose,
        of account: AccountName,
        isKnownNetwork: Bool
    ) async throws -> WaitingCode? {
        let query: PostgresQuery = """
            UPDATE codes SET known_tries = known_tries + CASE WHEN \(isKnownNetwork) THEN 1 ELSE 0 END,
                other_tries = other_tries + CASE WHEN \(isKnownNetwork) THEN 0 ELSE 1 END
            WHERE account = \(keys.name(of: account)) AND purpose = \(purpose.rawValue)
                AND ends_at > now() AT TIME ZONE 'UTC'
                AND CASE WHEN \(isKnownNetwork) THEN known_tries ELSE other_tries END < \(Self.maxTries)
            RETURNING id, email, user_id IS NOT NULL AS has_account
            """
        guard let row = try await postgres.withConnection({ try await $0.query(query).first }) else { return nil }
        let id: UUID = try row.decode("id")
        guard try keys.isRight(text, for: id, purpose) && row.decode("has_account") else { return nil }
        return WaitingCode(id: id, email: try row.decodeIfPresent("email"))
    }

    /// Uses a code up.
    ///
    /// - Parameters:
    ///   - code: A right one.
    ///   - userID: Whose it must be.
    ///   - connection: In the transaction of what the code is for.
    /// - Returns: Whether it was there: of parallel calls, one gets it.
    /// - Throws: `PostgresError`.
    package static func use(
        _ code: WaitingCode,
        ofUser userID: Int,
        on connection: PostgresConnection
    ) async throws -> Bool {
        try await connection.execute(
            """
            DELETE FROM codes WHERE id = \(code.id) AND user_id = \(userID) AND ends_at > now() AT TIME ZONE 'UTC'
            """
        ) == 1
    }

    /// Ends all codes of a user.
    static func removeAll(ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute("DELETE FROM codes WHERE user_id = \(userID)")
    }

    /// Removes codes that have ended.
    ///
    /// - Throws: `PostgresError`.
    static func removeEnded(_ postgres: PostgresClient) async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM codes WHERE id IN (
                SELECT id FROM codes WHERE ends_at < now() AT TIME ZONE 'UTC' LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}
