/// Who gives or takes a role by a call.
package struct RoleManager: Sendable {
    let userID: Int
    /// The names of the roles that manage the role.
    let roles: [String]
    let source: RequestSource

    /// - Parameters:
    ///   - userID: The user's id.
    ///   - roles: The names of the roles that manage the role.
    ///   - source: Where the request came from.
    package init(userID: Int, roles: [String], source: RequestSource) {
        self.userID = userID
        self.roles = roles
        self.source = source
    }
}
