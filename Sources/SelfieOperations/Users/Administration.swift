import FoundationEssentials
package import Postgres
package import SelfieAccounts
import SelfieCore

/// Everything that the command line does with accounts, roles and the schema.
package struct Administration: Sendable {
    let postgres: PostgresClient
    /// Nil where no mail is sent.
    var notices: Notices?

    /// Runs a body with a database.
    ///
    /// - Parameters:
    ///   - configuration: The database.
    ///   - notices: Tells users what was done to their accounts; nil where no mail is sent.
    ///   - body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, `AdministrationError.notMigrated` or `.unreachable`.
    package static func with<Result>(
        _ configuration: PostgresConfiguration,
        notices: Notices? = nil,
        _ body: (Administration) async throws -> Result
    ) async throws -> Result {
        do {
            return try await Installation.withDatabase(configuration, maxConnections: 1) { postgres in
                try await body(Administration(postgres: postgres, notices: notices))
            }
        } catch let error as PostgresError where [.undefinedTable, .undefinedColumn].contains(error.sqlState) {
            throw AdministrationError.notMigrated
        } catch PostgresError.cannotConnect {
            throw AdministrationError.unreachable
        }
    }

    /// Accounts in the order of their ids.
    ///
    /// - Parameters:
    ///   - text: A text that e-mail or name must contain, ignoring case; nil for all.
    ///   - id: The id after which to begin.
    ///   - limit: The most accounts.
    /// - Returns: The accounts.
    /// - Throws: `PostgresError`.
    package func list(matching text: String?, after id: Int, limit: Int) async throws -> [UserSummary] {
        let pattern = text.map { "%\(Self.escaped($0))%" }
        let rows = try await postgres.read(
            """
            SELECT users.id, member_id, first_name, last_name, title, email, created_at, disabled_at,
                \(part: PostgresQuery(stringLiteral: EmailState.column)),
                (SELECT count(*) FROM photos WHERE user_id = users.id AND state <> 'pending') AS photo_count,
                (SELECT count(*) FROM records WHERE owner_id = users.id AND deleted_at IS NULL) AS record_count,
                (SELECT count(*) FROM sessions
                    WHERE user_id = users.id AND expires_at > now() AT TIME ZONE 'UTC') AS session_count
            FROM users
            WHERE id > \(id) AND (\(pattern)::text IS NULL
                OR email ILIKE \(pattern)::text OR first_name || ' ' || last_name ILIKE \(pattern)::text)
            ORDER BY id LIMIT \(limit)
            """
        )
        return try rows.map(UserSummary.init)
    }

    /// One account.
    ///
    /// - Parameter selector: The account.
    /// - Returns: The account.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func find(_ selector: UserSelector) async throws -> UserSummary {
        let id = try await id(of: selector)
        guard let user = try await list(matching: nil, after: id - 1, limit: 1).first, user.id == id else {
            throw AdministrationError.noSuchUser(selector)
        }
        return user
    }

    /// Disables an account.
    ///
    /// Its sessions end at once, and no other begins.
    ///
    /// - Parameter selector: The account.
    /// - Returns: Whether it was not disabled before.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func disable(_ selector: UserSelector) async throws -> Bool {
        let id = try await id(of: selector)
        let isDisabled = try await UserStore(postgres: postgres).disable(id: id)
        if isDisabled { await ChangeNotifier(postgres: postgres).notifyOfEverything() }
        return isDisabled
    }

    /// Enables a disabled account.
    ///
    /// Its user must sign in again.
    ///
    /// - Parameter selector: The account.
    /// - Returns: Whether it was disabled before.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func enable(_ selector: UserSelector) async throws -> Bool {
        let id = try await id(of: selector)
        return try await UserStore(postgres: postgres).enable(id: id)
    }

    /// Removes an account with everything that belongs to it.
    ///
    /// The service deletes its photos' objects.
    ///
    /// - Parameter selector: The account.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func delete(_ selector: UserSelector) async throws {
        let id = try await id(of: selector)
        let isDeleted = try await RemoveAccount(postgres: postgres, notices: notices)(
            userID: id,
            passwordHash: nil,
            sessionID: nil
        )
        guard isDeleted else { throw AdministrationError.noSuchUser(selector) }
        await ChangeNotifier(postgres: postgres).notifyOfEverything()
    }

    /// An account's sessions, newest first.
    ///
    /// Expired ones are shown until they are removed.
    ///
    /// - Parameter selector: Which account.
    /// - Returns: The sessions.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func sessions(of selector: UserSelector) async throws -> [DescribedSession] {
        let id = try await id(of: selector)
        return try await SessionStore(postgres: postgres).list(ofUser: id, at: .distantPast, always: nil)
    }

    /// Events, newest first.
    ///
    /// - Parameters:
    ///   - selector: The account that did it, or to which it was done; nil for all. An id may be that of a deleted account.
    ///   - before: The id before which to begin.
    ///   - limit: The most events.
    /// - Returns: The events.
    /// - Throws: `AdministrationError.noSuchUser` for an e-mail or a member's id without an account, `PostgresError`.
    package func audit(of selector: UserSelector?, before: Int, limit: Int) async throws -> [AuditSummary] {
        let id: Int? =
            switch selector {
            case .id(let id): id
            case .email(let email): try await self.id(of: .email(email))
            case .member(let id): try await self.id(of: .member(id))
            case nil: nil
            }
        let rows = try await postgres.read(
            """
            SELECT id, happened_at, event, count, user_id, actor_id, role, address, request_id FROM audit_events
            WHERE id < \(before) AND (\(id)::bigint IS NULL OR user_id = \(id)::bigint OR actor_id = \(id)::bigint)
            ORDER BY id DESC LIMIT \(limit)
            """
        )
        return try rows.map(AuditSummary.init)
    }

    /// The id of a user.
    ///
    /// - Parameter selector: The user.
    /// - Returns: The id.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func id(of selector: UserSelector) async throws -> Int {
        let rows =
            switch selector {
            case .id(let id): try await postgres.read("SELECT id FROM users WHERE id = \(id)::bigint")
            case .email(let email):
                try await postgres.read("SELECT id FROM users WHERE lower(btrim(email)) = lower(btrim(\(email)))")
            case .member(let id): try await postgres.read("SELECT id FROM users WHERE member_id = \(id)")
            }
        guard let row = rows.first else { throw AdministrationError.noSuchUser(selector) }
        return try row.decode("id")
    }

    /// A pattern of LIKE that matches exactly this text.
    private static func escaped(_ text: String) -> String {
        text.map { "\\%_".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
