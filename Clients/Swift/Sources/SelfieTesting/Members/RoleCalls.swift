import SelfieClient

/// The calls of members who manage a role.
enum RoleCalls {
    static let routes = [
        Route("GET", "api/roles/*/members", .user(list)),
        Route("PUT", "api/roles/*/members/*", .user(add)),
        Route("DELETE", "api/roles/*/members/*", .user(remove)),
    ]

    /// The role of a call.
    ///
    /// - Throws: `ServiceRefusal` if the user does not manage it.
    private static func role(_ state: ServiceState, _ request: ServiceRequest, _ session: Session) throws -> String {
        let (role, own) = (request.path[2], try state.user(of: session).roles)
        if own.contains(where: { state.schema.roles[$0]?.manages.contains(role) ?? false }) { return role }
        throw own.contains(role)
            ? ServiceRefusal(status: 403, code: "role_forbidden", message: "You do not manage this role")
            : ServiceRefusal(status: 404, code: "role_not_found", message: "There is no such role")
    }

    private static func list(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let role = try role(state, request, session)
        return try MemberCalls.page(state.accounts.all.filter { $0.roles.contains(role) }, &state, request, session)
    }

    private static func add(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let role = try role(state, request, session)
        guard state.accounts[request.path[4]] != nil else { throw MemberCalls.notFound }
        state.add(request.path[4], toRole: role)
        return .message("Member added")
    }

    private static func remove(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let role = try role(state, request, session)
        guard state.accounts[request.path[4]] != nil else { throw MemberCalls.notFound }
        state.remove(request.path[4], fromRole: role)
        return .message("Member removed")
    }
}

extension ServiceState {
    /// Gives a new user what all users have.
    mutating func addDefaultRoles(to userID: String) {
        accounts[userID]?.roles = Set(schema.roles.filter { $0.value.isDefault }.keys)
        updateGrants(of: userID)
    }

    mutating func add(_ userID: String, toRole role: String) {
        guard accounts[userID]?.roles.insert(role).inserted == true else { return }
        updateGrants(of: userID)
    }

    /// Takes a role from a user.
    ///
    /// Cursors of this user end, since the rights that have gone are no changes.
    mutating func remove(_ userID: String, fromRole role: String) {
        guard accounts[userID]?.roles.remove(role) != nil else { return }
        accounts[userID]?.lostRoles += 1
        updateGrants(of: userID)
    }
}
