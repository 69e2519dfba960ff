/// Who gives or takes a role by a call.
package struct RoleManager: Sendable {
    let userID: Int
    /// The names of the roles that manage the role.
    let roles: [String]
    /// The version of the schema that says so.
    let schemaVersion: Int
    let source: RequestSource

    /// - Parameters:
    ///   - userID: The user's id.
    ///   - roles: The names of the roles that manage the role.
    ///   - schemaVersion: The version of the schema that says so.
    ///   - source: Where the request came from.
    package init(userID: Int, roles: [String], schemaVersion: Int, source: RequestSource) {
        self.userID = userID
        self.roles = roles
        self.schemaVersion = schemaVersion
        self.source = source
    }
}
