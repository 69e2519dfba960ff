extension Selfie {
    /// The user's own data.
    public func profile() async throws -> Profile {
        try await api.send(Call("GET", api.url(["me"])))
    }

    /// Changes the user's own data.
    ///
    /// - Returns: All of it, as it is then.
    @discardableResult
    public func updateProfile(_ change: ProfileChange) async throws -> Profile {
        var call = Call("PATCH", api.url(["me"]))
        // The same change again changes nothing more.
        call.isRepeatable = true
        try call.send(change)
        return try await api.send(call)
    }

    /// A member whom the user may see.
    ///
    /// - Throws: ``SelfieError/notFound(_:)``.
    public func member(_ id: Member.ID) async throws -> Member {
        try await api.send(Call("GET", api.url(["members", id])))
    }

    /// A page of the directory, if the service has one.
    ///
    /// - Parameters:
    ///   - beginning: The beginning of a name or a title, in any case; nil for all members.
    ///   - after: `next` of the page before; nil for the first.
    ///   - limit: 1 to 100.
    /// - Returns: The members, and what to send as `after` for the next page; nil behind the last.
    /// - Throws: ``SelfieError/notFound(_:)`` if it has none.
    public func members(startingWith beginning: String? = nil, after: String? = nil, limit: Int = 50) async throws
        -> (members: [Member], next: String?)
    {
        let query: KeyValuePairs<String, String?> = ["query": beginning, "after": after, "limit": "\(limit)"]
        return try await page(["members"], query)
    }

    /// All members of the directory, if the service has one, page by page as they are asked for.
    ///
    /// - Parameters:
    ///   - beginning: The beginning of a name or a title, in any case; nil for all members.
    ///   - pageSize: 1 to 100.
    /// - Returns: The members. Reading them throws ``SelfieError/notFound(_:)`` if the service has no directory.
    public func allMembers(startingWith beginning: String? = nil, pageSize: Int = 100) -> PagedSequence<Member> {
        PagedSequence { after in try await self.members(startingWith: beginning, after: after, limit: pageSize) }
    }

    /// The ids of the members whom the user has blocked.
    public func blocks() async throws -> [Member.ID] {
        struct Answer: Decodable { let blocks: [String] }
        return try await api.send(Call("GET", api.url(["blocks"])), as: Answer.self).blocks
    }

    /// Blocks a member: no messages from there, and no shared records.
    public func block(_ id: Member.ID) async throws {
        try await api.send(Call("PUT", api.url(["blocks", id])))
    }

    public func unblock(_ id: Member.ID) async throws {
        try await api.send(Call("DELETE", api.url(["blocks", id])))
    }

    /// A page of the members who have a role that the user manages.
    ///
    /// - Parameters:
    ///   - role: The role's name in the schema.
    ///   - after: `next` of the page before; nil for the first.
    ///   - limit: 1 to 100.
    /// - Returns: The members, and what to send as `after` for the next page; nil behind the last.
    /// - Throws: ``SelfieError/notFound(_:)`` if the user does not manage the role.
    public func members(ofRole role: String, after: String? = nil, limit: Int = 50) async throws
        -> (members: [Member], next: String?)
    {
        try await page(["roles", role, "members"], ["after": after, "limit": "\(limit)"])
    }

    /// All members who have a role that the user manages, page by page as they are asked for.
    ///
    /// - Parameters:
    ///   - role: The role's name in the schema.
    ///   - pageSize: 1 to 100.
    /// - Returns: The members. Reading them throws ``SelfieError/notFound(_:)`` if the user does not manage the role.
    public func allMembers(ofRole role: String, pageSize: Int = 100) -> PagedSequence<Member> {
        PagedSequence { after in try await self.members(ofRole: role, after: after, limit: pageSize) }
    }

    /// Gives a member a role that the user manages.
    public func add(_ id: Member.ID, toRole role: String) async throws {
        try await api.send(Call("PUT", api.url(["roles", role, "members", id])))
    }

    /// Takes a role from a member.
    public func remove(_ id: Member.ID, fromRole role: String) async throws {
        try await api.send(Call("DELETE", api.url(["roles", role, "members", id])))
    }

    private func page(_ path: [String], _ query: KeyValuePairs<String, String?>) async throws
        -> (members: [Member], next: String?)
    {
        struct Answer: Decodable { let members: [Member], next: String? }
        let answer: Answer = try await api.send(Call("GET", api.url(path, query: query)))
        return (answer.members, answer.next)
    }
}
