import SelfieClient

/// The calls about the user's profile, other members, and blocks.
enum MemberCalls {
    static let routes = [
        Route("GET", "api/me", .user(profile)),
        Route("PATCH", "api/me", .user(changeProfile)),
        Route("GET", "api/members", .user(list)),
        Route("GET", "api/members/*", .user(member)),
        Route("GET", "api/blocks", .user(blocks)),
        Route("PUT", "api/blocks/*", .user(block)),
        Route("DELETE", "api/blocks/*", .user(unblock)),
    ]

    static let notFound = ServiceRefusal(status: 404, code: "member_not_found", message: "There is no such member")
    private static let usualPageSize = 50

    // MARK: The user's own data

    private static func profile(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        profileAnswer(try state.user(of: session), &state)
    }

    private static func profileAnswer(_ user: User, _ state: inout ServiceState) -> ServiceAnswer {
        let own: [String: JSONValue] = [
            "email": .string(user.email), "email_state": user.isVerified ? "verified" : "unverified",
            "shows_email": .bool(user.showsEmail),
        ]
        return .json(.object(state.seen(user, by: user.id).merging(own) { $1 }))
    }

    private static func changeProfile(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let parameters = try request.parameters
        var user = try state.user(of: session)
        user.firstName = parameters["first_name"] ?? user.firstName
        user.lastName = parameters["last_name"] ?? user.lastName
        user.showsEmail = try parameters.flag("shows_email", otherwise: user.showsEmail)
        if let title = parameters.values["title"] { user.title = title.text }
        if let picture = parameters.values["picture"] {
            if let id = picture.text, state.photos[id]?.ownerID != user.id {
                throw ServiceRefusal.invalid("picture", valid: "the random_id of one of your photos, or null")
            }
            user.picture = picture.text
        }
        for (name, value) in parameters.values["fields"]?.members ?? [:] {
            user.fields[name] = value
            if value == .null { user.fields.removeValue(forKey: name) }
        }
        state.accounts[user.id] = user
        return profileAnswer(user, &state)
    }

    // MARK: Others

    private static func member(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        guard let user = state.accounts[request.path[2]],
            state.settings.hasDirectory || user.id == session.userID || state.areAcquainted(user.id, session.userID)
        else { throw notFound }
        return .json(state.json(of: user, for: session.userID))
    }

    private static func list(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        guard state.settings.hasDirectory else { throw ServiceRefusal.wrongURL }
        let beginning = request.query["query"]?.lowercased() ?? ""
        let found = state.accounts.all.filter { user in
            [user.firstName, user.lastName, "\(user.firstName) \(user.lastName)", user.title ?? ""]
                .contains { $0.lowercased().hasPrefix(beginning) }
        }
        return try page(found, &state, request, session)
    }

    /// A page of members, in the order of their names.
    static func page(_ users: [User], _ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let limit = try request.number("limit", in: 1...100) ?? usualPageSize
        var rest = users.sorted { ($0.lastName, $0.firstName, $0.id) < ($1.lastName, $1.firstName, $1.id) }[...]
        if let after = request.query["after"] {
            guard let index = rest.firstIndex(where: { $0.id == after }) else {
                throw ServiceRefusal.invalid("after", valid: "the value of next in the previous page")
            }
            rest = rest[(index + 1)...]
        }
        let page = rest.prefix(limit)
        return .json([
            "members": .array(page.map { state.json(of: $0, for: session.userID) }),
            "next": rest.count > limit ? JSONValue(page.last?.id) : .null,
        ])
    }

    // MARK: Blocks

    private static func blocks(_ state: inout ServiceState, _: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        .json(["blocks": JSONValue(try state.user(of: session).blocks)])
    }

    private static func block(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let id = request.path[2]
        guard id != session.userID else {
            throw ServiceRefusal(
                status: 400,
                code: "member_is_oneself",
                message: "You cannot block yourself"
            )
        }
        guard state.accounts[id] != nil else { throw notFound }
        if !(try state.user(of: session).blocks.contains(id)) { state.accounts[session.userID]?.blocks.append(id) }
        return .message("Member blocked")
    }

    private static func unblock(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session)
        -> ServiceAnswer
    {
        state.accounts[session.userID]?.blocks.removeAll { $0 == request.path[2] }
        return .message("Member unblocked")
    }
}

extension ServiceState {
    /// A member as another sees one.
    mutating func json(of user: User, for reader: String) -> JSONValue {
        var members = seen(user, by: reader)
        if user.showsEmail { members["email"] = .string(user.email) }
        return .object(members)
    }

    /// What all who may see a member see.
    fileprivate mutating func seen(_ user: User, by reader: String) -> [String: JSONValue] {
        let picture = user.picture.flatMap { photos[$0]?.id }
        return [
            "id": .string(user.id), "first_name": .string(user.firstName), "last_name": .string(user.lastName),
            "title": JSONValue(user.title), "fields": .object(user.fields), "picture_id": JSONValue(picture),
            "picture": JSONValue(picture.map { photoURLs.url(of: $0, for: reader, .picture(of: user.id), at: origin) }),
        ]
    }

    /// Whether a user sees a record that another one owns, reads or writes.
    fileprivate func areAcquainted(_ member: String, _ reader: String) -> Bool {
        records.all.contains { record in
            grants.rights(of: reader, to: record.key).contains(.read)
                && ([record.ownerID] + record.readers + record.writers).contains(member)
        }
    }

    /// Whether a member has blocked another one.
    func hasBlocked(_ member: String, _ other: String) -> Bool {
        accounts[member]?.blocks.contains(other) ?? false
    }
}
