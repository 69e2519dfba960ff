import SelfieClient

/// The calls about records, of the user's own and in the inboxes of others.
enum RecordCalls {
    static let routes = ["api/records/*", "api/members/*/records/*"].flatMap { path in
        [
            Route("GET", path, .user(list)), Route("POST", path, .user(create)),
            Route("GET", path + "/*", .user(get)), Route("PUT", path + "/*", .user(put)),
            Route("PATCH", path + "/*", .user(patch)), Route("DELETE", path + "/*", .user(delete)),
        ]
    }

    private static let maxRecordsOfCall = 100
    private static let idLength = 22

    /// Where the records of a call are.
    private struct Location {
        let name: String
        let collection: RecordSchema.Collection
        /// Whose inbox; nil if the collection has no inboxes.
        let inbox: String?
        let id: String?
        /// Whether it is the inbox of somebody else.
        let isForeign: Bool

        init(_ state: ServiceState, _ request: ServiceRequest, _ session: Session) throws {
            let member = request.path[1] == "members" ? request.path[2] : nil
            let rest = request.path.dropFirst(member == nil ? 2 : 4)
            name = rest.first ?? ""
            id = rest.count > 1 ? rest.last : nil
            collection = try state.collection(name, seenBy: session.userID)
            let hasInboxes = collection.access == .inbox
            if member != nil, !hasInboxes { throw ServiceRefusal.collectionNotFound }
            inbox = hasInboxes ? member ?? session.userID : nil
            isForeign = inbox.map { $0 != session.userID } ?? false
        }

        var key: ItemKey { key(id ?? "") }

        func key(_ id: String) -> ItemKey { ItemKey(collection: name, inbox: inbox, id: id) }
    }

    // MARK: Reading

    private static func list(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let location = try Location(state, request, session)
        let list = try RecordList(request, in: location.collection)
        let visible = state.records.all.filter {
            $0.key.collection == location.name && $0.key.inbox == location.inbox
                && state.grants.rights(of: session.userID, to: $0.key).contains(.read)
        }
        let page = try list.page(of: visible)
        let included = state.included(list.include, of: page.records, in: location.collection, for: session.userID)
        var answer: [String: JSONValue] = [
            "records": .array(page.records.map { state.json(of: $0, for: session.userID) }),
            "included": .array(included.map { state.json(of: $0, for: session.userID) }), "next": JSONValue(page.next),
        ]
        if list.counts { (answer["count"], answer["count_limited"]) = (JSONValue(page.count), false) }
        return .json(.object(answer))
    }

    private static func get(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let key = try Location(state, request, session).key
        guard let record = state.records[key], state.grants.rights(of: session.userID, to: key).contains(.read) else {
            throw ServiceRefusal.recordNotFound
        }
        return state.answer(record, for: session.userID)
    }

    // MARK: Writing

    private static func put(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try change(.put, &state, request, session)
    }

    private static func patch(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        try change(.patch, &state, request, session)
    }

    private static func change(
        _ action: RecordContent.Action,
        _ state: inout ServiceState,
        _ request: ServiceRequest,
        _ session: Session
    ) throws -> ServiceAnswer {
        let location = try Location(state, request, session)
        let json = try request.json
        let precondition = try RecordPrecondition(request)
        let content = try RecordContent(action, json, id: location.id)
        let record = try write(&state, location.key, content, precondition, location, session)
        return state.answer(record, for: session.userID)
    }

    private static func write(
        _ state: inout ServiceState,
        _ key: ItemKey,
        _ content: RecordContent,
        _ precondition: RecordPrecondition,
        _ location: Location,
        _ session: Session
    ) throws -> StoredRecord {
        guard location.isForeign, let recipient = location.inbox else {
            return try state.write(key, content, precondition, by: session.userID)
        }
        return try state.send(key, content, precondition, by: session.userID, to: recipient)
    }

    /// Creates a record, or an array of them: all or none.
    private static func create(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let location = try Location(state, request, session)
        let json = try request.json
        guard case .array(let elements) = json else {
            return state.answer(try create(&state, json, location, session), for: session.userID)
        }
        guard elements.count <= maxRecordsOfCall else {
            let message = "A call takes at most \(maxRecordsOfCall) records"
            throw ServiceRefusal(status: 400, code: "too_many_records", message: message)
        }
        let records = try elements.map { try create(&state, $0, location, session) }
        return .json(.array(records.map { state.json(of: $0, for: session.userID) }))
    }

    private static func create(
        _ state: inout ServiceState,
        _ json: JSONValue,
        _ location: Location,
        _ session: Session
    ) throws -> StoredRecord {
        let content = try RecordContent(.create, json, id: nil)
        let key = location.key(content.id ?? RandomText.make(idLength))
        return try write(&state, key, content, .none, location, session)
    }

    private static func delete(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let location = try Location(state, request, session)
        let precondition = try RecordPrecondition(request)
        if location.isForeign {
            try state.withdraw(location.key, precondition, by: session.userID)
        } else {
            try state.delete(location.key, precondition, by: session.userID)
        }
        return .json(["deleted": 1])
    }
}

extension ServiceState {
    /// A record with its version as the entity tag.
    fileprivate mutating func answer(_ record: StoredRecord, for reader: String) -> ServiceAnswer {
        .json(json(of: record, for: reader), headers: ["ETag": "\"\(record.version)\""])
    }

    /// A record as a reader sees it.
    mutating func json(of record: StoredRecord, for reader: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(record.key.id), "collection": .string(record.key.collection), "data": .object(record.data),
            "owner": .string(record.ownerID), "version": JSONValue(record.version),
            "created_at": JSONValue(record.createdAt), "updated_at": JSONValue(record.updatedAt),
            "expires_at": JSONValue(record.expiresAt),
        ]
        let rights = grants.rights(of: reader, to: record.key)
        if rights.contains(.share) {
            (members["readers"], members["writers"]) = (JSONValue(record.readers), JSONValue(record.writers))
        }
        var urls: [String: JSONValue] = [:]
        for field in photoFields(of: record) where rights.contains(.read) {
            let pairs = field.ids.map { id in
                (id, JSONValue.string(photoURLs.url(of: id, for: reader, .record(record.key), at: origin)))
            }
            urls[field.name] = field.isArray ? .object(Dictionary(pairs) { $1 }) : pairs.first?.1
        }
        members["photos"] = .object(urls)
        return .object(members)
    }

    /// The records behind some references, each once, as far as the reader may see them.
    fileprivate func included(
        _ fields: [String],
        of records: [StoredRecord],
        in collection: RecordSchema.Collection,
        for reader: String
    ) -> [StoredRecord] {
        var seen: Set<ItemKey> = []
        return records.flatMap { record in
            fields.flatMap { name in
                (record.data[name]?.texts ?? [record.data[name]?.text].compactMap(\.self)).compactMap { id in
                    target(collection.fields?[name]?.target, id, of: reader)
                }
            }
        }
        .filter { seen.insert($0.key).inserted }
    }
}
