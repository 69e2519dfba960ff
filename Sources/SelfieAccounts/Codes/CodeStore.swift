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
    /// How many wrong tries end a code, for each place.
    private static let maxTries = 5

    // MARK: - Sending

    /// Makes a code, which replaces the one before, and sends it.
    ///
    /// An address without an account costs the same statement, so that its time tells nothing.
    ///
    /// - Parameters:
    ///   - purpose: What the code is for.
    ///   - receiver: Who gets it.
    ///   - delay: How long it waits before it is sent.
    /// - Throws: `PostgresError`.
    func send(_ purpose: CodePurpose, to receiver: CodeReceiver, after delay: Duration) async throws {
        try await postgres.write(statement(purpose, to: receiver, after: delay))
    }

    /// The same in a transaction, at once.
    func send(_ purpose: CodePurpose, to receiver: CodeReceiver, on connection: PostgresConnection) async throws {
        try await connection.execute(statement(purpose, to: receiver, after: .zero))
    }

    private func statement(
        _ purpose: CodePurpose,
        to receiver: CodeReceiver,
        after delay: Duration
    ) -> PostgresQuery {
        let id = UUID()
        return """
            WITH made AS (\(part: insertion(of: id, purpose, to: receiver)))
            \(part: DeliveryStore.insertion(of: [Self.delivery(of: id, for: purpose, after: delay)]))
            """
    }

    private func insertion(of id: UUID, _ purpose: CodePurpose, to receiver: CodeReceiver) -> PostgresQuery {
        """
        INSERT INTO codes (id, account, purpose, user_id, email, ends_at)
        SELECT \(id), \(keys.name(of: receiver.account)), \(purpose.rawValue),
            (SELECT id FROM users WHERE id = \(receiver.userID)::bigint AND disabled_at IS NULL FOR KEY SHARE),
            \(receiver.email), now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.lifetimeSeconds))
        ON CONFLICT (account, purpose) DO UPDATE SET
            id = excluded.id, user_id = excluded.user_id, email = excluded.email, created_at = excluded.created_at,
            ends_at = excluded.ends_at, session_tries = 0, known_tries = 0, other_tries = 0
        """
    }

    private static func delivery(
        of id: UUID,
        for purpose: CodePurpose,
        after delay: Duration
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

    /// Where a try comes from: each has tries of its own.
    enum Place: String, Sendable {
        /// It has a token of the account's user.
        case session
        /// The account was used from there before.
        case knownNetwork
        case elsewhere
    }

    /// Tries a code.
    ///
    /// The try counts as wrong until the code is used up, so that parallel tries can't pass the limit.
    ///
    /// - Parameters:
    ///   - text: As the client sent it.
    ///   - purpose: What it must be for.
    ///   - account: The account.
    ///   - place: Where the try comes from.
    /// - Returns: The code; nil when it is not right.
    /// - Throws: `PostgresError`.
    func attempt(
        _ text: String,
        for purpose: CodePurpose,
        of account: AccountName,
        from place: Place
    ) async throws -> WaitingCode? {
        let tries = Self.tries(from: place)
        let query: PostgresQuery = """
            UPDATE codes SET \(part: tries) = \(part: tries) + 1
            WHERE account = \(keys.name(of: account)) AND purpose = \(purpose.rawValue)
                AND ends_at > now() AT TIME ZONE 'UTC' AND \(part: tries) < \(Self.maxTries)
            RETURNING id, email, user_id IS NOT NULL AS has_account
            """
        guard let row = try await postgres.withConnection({ try await $0.query(query).first }) else { return nil }
        let id: UUID = try row.decode("id")
        guard try keys.isRight(text, for: id, purpose) && row.decode("has_account") else { return nil }
        return WaitingCode(id: id, email: try row.decodeIfPresent("email"))
    }

    /// Undoes the try of a right code.
    func giveBack(_ code: WaitingCode, triedFrom place: Place) async throws {
        let tries = Self.tries(from: place)
        try await postgres.write("UPDATE codes SET \(part: tries) = \(part: tries) - 1 WHERE id = \(code.id)")
    }

    private static func tries(from place: Place) -> PostgresQuery {
        switch place {
        case .session: "session_tries"
        case .knownNetwork: "known_tries"
        case .elsewhere: "other_tries"
        }
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
            "DELETE FROM codes WHERE id = \(code.id) AND user_id = \(userID)"
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
