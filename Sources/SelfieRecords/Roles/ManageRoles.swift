package import Postgres
import RecordSchema
package import SelfieAccounts
import SelfiePhotos

/// Decides who manages a role, and adds and removes its members.
package struct ManageRoles: Sendable {
    /// The roles' members, for those who manage them.
    package let store: RoleStore
    let schemas: SchemaCache
    let limiter: RateLimiter
    let notifier: ChangeNotifier

    package enum Change: Sendable {
        /// The member gets the role.
        case add
        /// The member loses it, even if the account is disabled.
        case remove
    }

    /// A role that a user manages.
    private struct Managed {
        let userID: Int
        /// The names of the roles that manage it.
        let managers: [String]
        /// The version of the schema that says so.
        let schemaVersion: Int

        /// Decides by the user's roles, among the role and its managers, that are not disabled.
        func require(_ names: [String]) throws(RoleError) {
            if names.isEmpty { throw .noRole }
            if !names.contains(where: managers.contains) { throw .notManager }
        }
    }

    /// Requires that a user manages a role.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - userID: The user.
    /// - Throws: `RoleError.noRole` also for a user who neither has nor manages the role, `.notManager`,
    ///   `PostgresError`.
    package func require(_ role: String, managedBy userID: Int) async throws {
        _ = try await managed(role, by: userID)
    }

    private func managed(_ role: String, by userID: Int) async throws -> Managed {
        let applied = try await schemas.newest()
        guard applied.schema.roles.contains(where: { $0.name == role }) else { throw RoleError.noRole }
        let managed = Managed(
            userID: userID,
            managers: applied.schema.managers(of: role),
            schemaVersion: applied.version
        )
        let own = try await store.postgres.read(RoleStore.names(ofUser: userID, among: managed.managers + [role]))
        try managed.require(try own.map { try $0.decode("name") })
        return managed
    }

    /// Gives or takes a role, for a user who manages it.
    ///
    /// The right is checked before the call is counted, and again under the locks of the change.
    ///
    /// - Parameters:
    ///   - change: Whether it is given or taken.
    ///   - role: The role's name.
    ///   - memberID: The member's id, as a client sent it.
    ///   - session: The manager's session.
    ///   - source: Where the request came from.
    /// - Returns: Whether that is a change.
    /// - Throws: `RoleError`, `RateLimitExceeded`, `SessionError.ended` when the manager's account is deleted or disabled,
    ///   `RecordsBusy` when the schema changes meanwhile, `PostgresError`.
    package func callAsFunction(
        _ change: Change,
        _ role: String,
        ofMember memberID: String,
        by session: Session,
        from source: RequestSource
    ) async throws -> Bool {
        let managed = try await managed(role, by: session.userID)
        try await limiter.count([.recordWrites(1, userID: session.userID)], ofUser: session.userID, from: source)
        let userID = try await Self.apply(change, role, memberID, by: managed, from: source, in: store.postgres)
        if let userID { notifier.notify([.user(userID)]) }
        return userID != nil
    }

    /// Gives or takes a role, for the command line, which manages all roles.
    ///
    /// - Parameters:
    ///   - change: Whether it is given or taken.
    ///   - role: The role's name.
    ///   - memberID: The member's id.
    ///   - postgres: The database.
    /// - Returns: Whether that is a change. It sends no notification.
    /// - Throws: `RoleError`, `PostgresError`.
    package static func change(
        _ change: Change,
        _ role: String,
        ofMember memberID: String,
        in postgres: PostgresClient
    ) async throws -> Bool {
        try await apply(change, role, memberID, by: nil, from: nil, in: postgres) != nil
    }

    /// Decides and writes in one transaction.
    ///
    /// Parallel calls wait here for each other. So together they can't pass the limit. A manager who has just lost the
    /// right can't act either: by a deleted account, a new schema or a lost role.
    ///
    /// - Returns: The user's id; nil when nothing changes.
    private static func apply(
        _ change: Change,
        _ role: String,
        _ memberID: String,
        by manager: Managed?,
        from source: RequestSource?,
        in postgres: PostgresClient
    ) async throws -> Int? {
        guard MemberID.isPossible(memberID) else { throw RoleError.noMember }
        return try await postgres.withTransaction { connection in
            try await SchemaLock.share(on: connection)
            let users = try await connection.query(
                """
                SELECT id::bigint AS id, member_id = \(memberID) AS is_member, disabled_at IS NOT NULL AS is_disabled
                FROM users WHERE id = \(manager?.userID) OR member_id = \(memberID) ORDER BY id FOR SHARE
                """
            )
            let member = try users.first { try $0.decode("is_member") }
            let roles = try await connection.query(
                """
                SELECT id::bigint AS id, name = \(role) AS is_wanted, \(part: SchemaStore.versionColumn) AS schema_version
                FROM roles WHERE name = ANY(\((manager?.managers ?? []) + [role])) ORDER BY id FOR NO KEY UPDATE
                """
            )
            if let manager {
                let isActive = try users.contains { try $0.decode("id") == manager.userID && !$0.decode("is_disabled") }
                guard isActive else { throw SessionError.ended }
                guard try roles.first?.decode("schema_version") == manager.schemaVersion else { throw RecordsBusy() }
                let own = try await connection.query(
                    RoleStore.names(ofUser: manager.userID, among: manager.managers + [role])
                )
                try manager.require(try own.map { try $0.decode("name") })
            }
            guard let roleID: Int = try roles.first(where: { try $0.decode("is_wanted") })?.decode("id") else {
                throw RoleError.noRole
            }
            guard let member, try change == .remove || manager == nil || !member.decode("is_disabled") else {
                throw RoleError.noMember
            }
            let userID: Int = try member.decode("id")
            let isChanged: Bool
            switch change {
            case .add: isChanged = try await RoleStore.add(roleID, to: userID, on: connection)
            case .remove: isChanged = try await RoleStore.remove(roleID, from: userID, on: connection)
            }
            guard isChanged else { return nil }
            try await AuditStore.add(
                change == .add ? .roleAdded : .roleRemoved,
                userID: userID,
                by: manager?.userID,
                role: role,
                from: source,
                on: connection
            )
            return userID
        }
    }
}
