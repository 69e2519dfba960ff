package import FoundationEssentials
package import Postgres

/// The tables `roles` and `role_members`.
package struct RoleStore: Sendable {
    let postgres: PostgresClient
    let notifier: ChangeNotifier?

    /// - Parameters:
    ///   - postgres: The database.
    ///   - notifier: Tells readers of changes; nil where they notice later.
    package init(postgres: PostgresClient, notifier: ChangeNotifier? = nil) {
        self.postgres = postgres
        self.notifier = notifier
    }

    /// The most members of a role.
    package static let maxMemberCount = 10_000

    /// A role as an administrator sees it.
    package struct Summary: Sendable, Encodable {
        package let name: String
        package let isDisabled: Bool
        package let memberCount: Int
    }

    /// A member of a role.
    package struct Member: Sendable, Encodable {
        /// The id that other members see.
        package let id: String
        package let firstName: String
        package let lastName: String
        package let email: String
        package let addedAt: Date
    }

    /// All roles, by name.
    ///
    /// - Returns: The roles.
    /// - Throws: `PostgresError`.
    package func list() async throws -> [Summary] {
        try await postgres.read(
            """
            SELECT name::text AS name, disabled_at IS NOT NULL AS is_disabled,
                (SELECT count(*) FROM role_members WHERE role_id = roles.id) AS member_count
            FROM roles ORDER BY name
            """
        ).map { row in
            Summary(
                name: try row.decode("name"),
                isDisabled: try row.decode("is_disabled"),
                memberCount: try row.decode("member_count")
            )
        }
    }

    /// The members of a role, in the order of their ids.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - id: The member's id after which to begin; empty for the beginning.
    ///   - limit: The most members.
    /// - Returns: The members.
    /// - Throws: `PostgresError`.
    package func members(of role: String, after id: String = "", limit: Int) async throws -> [Member] {
        try await postgres.read(
            """
            SELECT member_id, first_name, last_name, email, added_at
            FROM roles JOIN role_members ON role_id = roles.id JOIN users ON users.id = user_id
            WHERE roles.name = \(role) AND member_id > \(id) ORDER BY member_id LIMIT \(limit)
            """
        ).map(Member.init)
    }

    /// A member of a role.
    ///
    /// - Parameters:
    ///   - id: The member's id.
    ///   - role: The role's name.
    /// - Returns: The member; nil for one who does not have the role.
    /// - Throws: `PostgresError`.
    package func member(_ id: String, of role: String) async throws -> Member? {
        try await postgres.read(
            """
            SELECT member_id, first_name, last_name, email, added_at
            FROM roles JOIN role_members ON role_id = roles.id JOIN users ON users.id = user_id
            WHERE roles.name = \(role) AND member_id = \(id)
            """
        ).first.map(Member.init)
    }

    /// Gives a user a role.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - userID: The user.
    ///   - manager: Who gives it; nil for the command line.
    /// - Returns: Whether the user did not have it before.
    /// - Throws: `RoleError`, `SessionError.ended` when the manager's account is gone or disabled, `RecordsBusy` when the
    ///   schema changes meanwhile, `PostgresError`.
    package func add(_ role: String, to userID: Int, by manager: RoleManager?) async throws -> Bool {
        let isAdded = try await postgres.withTransaction { connection in
            let roleID = try await Self.lock(role, of: userID, for: manager, on: connection)
            let present = try await connection.query(
                "SELECT FROM role_members WHERE role_id = \(roleID) AND user_id = \(userID)"
            )
            guard present.isEmpty else { return false }
            let added = try await connection.execute(
                """
                INSERT INTO role_members (role_id, user_id) SELECT \(roleID), \(userID)
                WHERE (SELECT count(*) FROM role_members WHERE role_id = \(roleID)) < \(Self.maxMemberCount)
                """
            )
            guard added == 1 else { throw RoleError.full }
            try await Self.note(.roleAdded, of: userID, role, by: manager, on: connection)
            return true
        }
        if isAdded { notifier?.notify([.user(userID)]) }
        return isAdded
    }

    /// Takes a role from a user.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - userID: The user.
    ///   - manager: Who takes it; nil for the command line.
    /// - Returns: Whether the user had it.
    /// - Throws: As ``add(_:to:by:)``.
    package func remove(_ role: String, from userID: Int, by manager: RoleManager?) async throws -> Bool {
        let isRemoved = try await postgres.withTransaction { connection in
            let roleID = try await Self.lock(role, of: userID, for: manager, on: connection)
            let removed = try await connection.execute(
                "DELETE FROM role_members WHERE role_id = \(roleID) AND user_id = \(userID)"
            )
            guard removed == 1 else { return false }
            try await Self.note(.roleRemoved, of: userID, role, by: manager, on: connection)
            return true
        }
        if isRemoved { notifier?.notify([.user(userID)]) }
        return isRemoved
    }

    /// Locks a role, and all that decides on who manages it, to the end of the transaction.
    ///
    /// Parallel calls wait here for each other. So they can't pass the limit together, and nobody acts who has lost the right
    /// to meanwhile: with the account, by the schema, or with the role.
    ///
    /// - Returns: The role's id.
    private static func lock(
        _ role: String,
        of userID: Int,
        for manager: RoleManager?,
        on connection: PostgresConnection
    ) async throws -> Int {
        try await SchemaLock.share(on: connection)
        let users: [(id: Int, isDisabled: Bool)] = try await connection.query(
            """
            SELECT id::bigint AS id, disabled_at IS NOT NULL AS is_disabled FROM users
            WHERE id = ANY(\([userID] + (manager.map { [$0.userID] } ?? []))) ORDER BY id FOR SHARE
            """
        ).map { (try $0.decode("id"), try $0.decode("is_disabled")) }
        if let manager {
            guard users.contains(where: { $0.id == manager.userID && !$0.isDisabled }) else { throw SessionError.ended }
            let present = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
            guard try present[0].decode("version") == manager.schemaVersion else { throw RecordsBusy() }
        }
        guard users.contains(where: { $0.id == userID }) else { throw RoleError.noMember }
        let rows = try await connection.query(
            """
            SELECT id::bigint AS id, name = \(role) AS is_wanted FROM roles
            WHERE name = ANY(\((manager?.roles ?? []) + [role])) ORDER BY id FOR NO KEY UPDATE
            """
        )
        guard let row = try rows.first(where: { try $0.decode("is_wanted") }) else { throw RoleError.noRole }
        if let manager {
            let names = try await connection.query(
                names(ofUser: manager.userID, in: role, managers: manager.roles)
            ).map { try $0.decode("name", as: String.self) }
            switch Standing(names, managers: manager.roles) {
            case .manager: break
            case .member: throw RoleError.notManager
            case .none: throw RoleError.noRole
            }
        }
        return try row.decode("id")
    }

    private static func note(
        _ event: AuditEvent,
        of userID: Int,
        _ role: String,
        by manager: RoleManager?,
        on connection: PostgresConnection
    ) async throws {
        try await AuditStore.add(
            event,
            userID: userID,
            by: manager?.userID,
            role: role,
            from: manager?.source,
            on: connection
        )
    }

    /// Switches a role off or on.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - isDisabled: Whether it gives nothing from now on.
    /// - Returns: Whether that is a change.
    /// - Throws: `RoleError.noRole`, `PostgresError`.
    package func setDisabled(_ role: String, _ isDisabled: Bool) async throws -> Bool {
        let changed = try await postgres.write(
            """
            UPDATE roles SET disabled_at = CASE WHEN \(isDisabled) THEN now() AT TIME ZONE 'UTC' END
            WHERE name = \(role) AND (disabled_at IS NOT NULL) <> \(isDisabled)
            """
        )
        if changed == 1 { return true }
        guard try await !postgres.read("SELECT FROM roles WHERE name = \(role)").isEmpty else { throw RoleError.noRole }
        return false
    }

    /// What a user may do with the list of a role's members.
    package enum Standing: Sendable {
        /// The user has nothing to do with the role.
        case none
        /// The user has the role.
        case member
        /// The user has a role that manages it.
        case manager

        /// - Parameters:
        ///   - names: Those of the role and its managers that the user has, and that are not disabled.
        ///   - managers: The names of the roles that manage it.
        fileprivate init(_ names: [String], managers: [String]) {
            self = names.contains(where: managers.contains) ? .manager : names.isEmpty ? .none : .member
        }
    }

    /// What a user may do with the list of a role's members.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - role: The role's name.
    ///   - managers: The names of the roles that manage it.
    /// - Returns: The most that the user may do. A role that is disabled gives nothing.
    /// - Throws: `PostgresError`.
    package func standing(of userID: Int, in role: String, managers: [String]) async throws -> Standing {
        let names: [String] = try await postgres.read(
            Self.names(ofUser: userID, in: role, managers: managers)
        ).map { try $0.decode("name") }
        return Standing(names, managers: managers)
    }

    /// Selects the names of a role and its managers that a user has, and that are not disabled.
    private static func names(ofUser userID: Int, in role: String, managers: [String]) -> PostgresQuery {
        """
        SELECT name::text AS name FROM role_members JOIN roles ON roles.id = role_id
        WHERE user_id = \(userID) AND disabled_at IS NULL AND name = ANY(\(managers + [role]))
        """
    }

    /// The user whom other members know by an id.
    ///
    /// - Parameters:
    ///   - memberID: The id.
    ///   - isDisabledToo: Whether the account may be disabled.
    /// - Returns: The user's id.
    /// - Throws: `RoleError.noMember`, `PostgresError`.
    package func userID(ofMember memberID: String, isDisabledToo: Bool) async throws -> Int {
        guard MemberID.isPossible(memberID) else { throw RoleError.noMember }
        let rows = try await postgres.read(
            "SELECT id::bigint AS id FROM users WHERE member_id = \(memberID) AND (disabled_at IS NULL OR \(isDisabledToo))"
        )
        guard let row = rows.first else { throw RoleError.noMember }
        return try row.decode("id")
    }
}

extension RoleStore.Member {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("member_id"),
            firstName: try row.decode("first_name"),
            lastName: try row.decode("last_name"),
            email: try row.decode("email"),
            addedAt: try row.decode("added_at")
        )
    }
}

/// Why something can't be done with a role.
package enum RoleError: Error, Equatable {
    case noRole
    case noMember
    /// Who calls does not manage it, or no more.
    case notManager
    /// It has ``RoleStore/maxMemberCount`` members.
    case full
}
