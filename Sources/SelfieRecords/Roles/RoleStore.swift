package import FoundationEssentials
package import Postgres
import SelfieAccounts

/// The tables `roles` and `role_members`.
package struct RoleStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// The most members of a role, unless each new user gets it.
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
    ///   - id: The member's id after which to begin; nil for the beginning.
    ///   - limit: The most members.
    /// - Returns: The members.
    /// - Throws: `PostgresError`.
    package func members(of role: String, after id: String? = nil, limit: Int) async throws -> [Member] {
        try await postgres.read(
            """
            \(part: Self.selection(of: role)) AND (\(id)::text IS NULL OR member_id > \(id)::text)
            ORDER BY member_id LIMIT \(limit)
            """
        ).map(Member.init)
    }

    /// A member of a role.
    ///
    /// - Parameters:
    ///   - id: The member's id, as a client sent it.
    ///   - role: The role's name.
    /// - Returns: The member.
    /// - Throws: `RoleError.noMember` for a member without the role, `PostgresError`.
    package func member(_ id: String, of role: String) async throws -> Member {
        guard MemberID.isPossible(id),
            let row = try await postgres.read("\(part: Self.selection(of: role)) AND member_id = \(id)").first
        else { throw RoleError.noMember }
        return try Member(row)
    }

    /// Selects the members of a role.
    private static func selection(of role: String) -> PostgresQuery {
        """
        SELECT member_id, first_name, last_name, email, added_at
        FROM roles JOIN role_members ON role_id = roles.id JOIN users ON users.id = user_id
        WHERE roles.name = \(role)
        """
    }

    /// Gives a user a role, and says whether the user did not have it before.
    ///
    /// Both are locked.
    static func add(_ roleID: Int, to userID: Int, on connection: PostgresConnection) async throws -> Bool {
        let present = try await connection.query(
            "SELECT FROM role_members WHERE role_id = \(roleID) AND user_id = \(userID)"
        )
        guard present.isEmpty else { return false }
        let added = try await connection.execute(
            """
            INSERT INTO role_members (role_id, user_id) SELECT \(roleID), \(userID)
            WHERE (SELECT count(*) FROM role_members WHERE role_id = \(roleID)) < \(Self.maxMemberCount)
                OR (SELECT is_default FROM roles WHERE id = \(roleID))
            """
        )
        guard added == 1 else { throw RoleError.full }
        return true
    }

    /// Takes a role from a user, and says whether the user had it.
    ///
    /// Both are locked.
    static func remove(_ roleID: Int, from userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await connection.execute(
            "DELETE FROM role_members WHERE role_id = \(roleID) AND user_id = \(userID)"
        ) == 1
    }

    /// Switches a role off or on.
    ///
    /// - Parameters:
    ///   - role: The role's name.
    ///   - isDisabled: Whether it gives no access from now on.
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

    /// Selects the names of those of some roles that a user has, and that are not disabled.
    static func names(ofUser userID: Int, among roles: [String]) -> PostgresQuery {
        """
        SELECT name::text AS name FROM role_members JOIN roles ON roles.id = role_id
        WHERE user_id = \(userID) AND disabled_at IS NULL AND name = ANY(\(roles))
        """
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
    /// The user does not manage it, or no longer.
    case notManager
    /// It has ``RoleStore/maxMemberCount`` members.
    case full
}
