import SelfieClient

/// The calls about records, of the user's own and in the inboxes of others.
enum RecordCalls {
    static let routes = ["api/records/*", "api/members/*/records/*"].flatMap { path in
        [
            Route("GET", path, .user(list)), Route("POST", path, .user(create)),
            Route("GET", path + "/*", .user(get)), Route("PUT", path + "/*", .user(put)),
            Route("PATCH", path + "/*", .user(patch)), Route("DELETE", path + "/*", .user(delete)),
            Route("PATCH", path, .user(patchMany)), Route("DELETE", path, .user(deleteMany)),
        ]
    }

    /// Where the records of a call are.
    private static func location(_ request: ServiceRequest) -> RecordLocation {
        isBelowMember(request)
            ? RecordLocation(name: request.path[4], inboxOf: request.path[2])
            : RecordLocation(name: request.path[2], inboxOf: nil)
    }

    /// The id in the path.
    private static func id(_ request: ServiceRequest) -> String { request.path[isBelowMember(request) ? 5 : 3] }

    private static func isBelowMember(_ request: ServiceRequest) -> Bool { request.path[1] == "members" }

    // MARK: Reading

    private static func list(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let location = location(request)
        let collection = try state.collection(location, seenBy: session.userID)
        // A user lists only their own inbox.
        guard (location.inboxOf ?? session.userID) == session.userID else { throw MemberCalls.notFound }
        guard state.lists(collection, session.userID) else { throw ServiceRefusal.collectionNotFound }
        let inbox = collection.access == .inbox ? session.userID : nil
        let list = try RecordList(request, in: collection)
        let visible = state.records.all.filter {
            $0.key.collection == location.name && $0.key.inbox == inbox
                && state.grants.rights(of: session.userID, to: $0.key).contains(.read)
        }
        let page = try list.page(of: visible)
        let included = state.included(list.include, of: page.records, in: collection, for: session.userID)
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
        let location = location(request)
        let collection = try state.collection(location, seenBy: session.userID)
        let inbox = collection.access == .inbox ? location.inboxOf ?? session.userID : nil
        let key = ItemKey(collection: location.name, inbox: inbox, id: id(request))
        if let inbox, inbox != session.userID {
            // The same before and after the recipient has deleted it.
            let hasSent = state.records.sent[key]?.ownerID == session.userID
            throw hasSent ? ServiceRefusal.recordForbidden : .recordNotFound
        }
        let rights = state.grants.rights(of: session.userID, to: key)
        guard let record = state.records[key], !rights.isEmpty else { throw ServiceRefusal.recordNotFound }
        guard rights.contains(.read) else { throw ServiceRefusal.recordForbidden }
        let include = try RecordList.include(request, in: collection)
        var answer = state.answer(record, for: session.userID)
        if request.query["include"] != nil, case .object(var members) = state.json(of: record, for: session.userID) {
            let included = state.included(include, of: [record], in: collection, for: session.userID)
            members["included"] = .array(included.map { state.json(of: $0, for: session.userID) })
            return .json(.object(members), headers: answer.response.headers)
        }
        // The URLs of photos change each day.
        let tag = answer.response.headers["etag"]
        if request.headers["if-none-match"] == tag, state.photoIDs(of: key).isEmpty {
            answer.response = TransportResponse(status: 304, headers: ["ETag": tag ?? ""])
        }
        return answer
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
        _ action: RecordOperation.Action,
        _ state: inout ServiceState,
        _ request: ServiceRequest,
        _ session: Session
    ) throws -> ServiceAnswer {
        let (json, precondition) = (try request.json, try RecordPrecondition(request))
        let operation = try RecordOperation(action, json, id: id(request), precondition)
        let records = try state.write([operation], in: location(request), by: session.userID)
        return state.answer(records[0], for: session.userID)
    }

    /// Creates a record, or an array of them.
    private static func create(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let json = try request.json
        guard case .array(let elements) = json else {
            let operation = try RecordOperation(.create, json)
            let records = try state.write([operation], in: location(request), by: session.userID)
            return state.answer(records[0], for: session.userID)
        }
        let operations = try RecordOperation.array(.create, elements)
        return try writeArray(operations, &state, request, session)
    }

    /// Changes an array of records.
    private static func patchMany(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        guard case .array(let elements) = try request.json else {
            throw ServiceRefusal.recordMalformed("the body", "must be an array")
        }
        return try writeArray(try RecordOperation.array(.patch, elements), &state, request, session)
    }

    private static func writeArray(
        _ operations: [RecordOperation],
        _ state: inout ServiceState,
        _ request: ServiceRequest,
        _ session: Session
    ) throws -> ServiceAnswer {
        let records = try state.write(operations, in: location(request), by: session.userID)
        return .json(.array(records.map { state.json(of: $0, for: session.userID) }))
    }

    private static func delete(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let operation = RecordOperation(deleting: id(request), try RecordPrecondition(request))
        _ = try state.write([operation], in: location(request), by: session.userID)
        return .json(["deleted": 1])
    }

    /// Deletes the records of a list of ids.
    private static func deleteMany(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        guard let ids = try request.list("ids", max: RecordOperation.maxCount) else {
            throw ServiceRefusal.parametersMissing
        }
        let operations = ids.enumerated().map { RecordOperation(deleting: $1, at: $0) }
        _ = try state.write(operations, in: location(request), by: session.userID)
        return .json(["deleted": JSONValue(ids.count)])
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
