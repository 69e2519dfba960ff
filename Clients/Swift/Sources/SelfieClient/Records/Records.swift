public import Foundation

/// The records of a collection, or of the collection in somebody's inbox.
public struct Records<Fields: RecordFields>: Sendable {
    let api: APIClient
    /// The member whose inbox it is; nil for all that the user can see.
    let inbox: String?

    /// The segments of the collection's path behind `api`.
    var path: [String] { RecordPath.collection(Fields.collection, inbox: inbox) }

    // MARK: Reading

    /// One record.
    ///
    /// - Throws: ``SelfieError/notFound(_:)`` if there is none, or the user may not see it.
    public func record(_ id: String) async throws -> Record<Fields> {
        try await answer(to: Call("GET", api.url(RecordPath.record(id, in: path))))
    }

    /// One record, or nil if there is none that the user may see.
    public func find(_ id: String) async throws -> Record<Fields>? {
        do {
            return try await record(id)
        } catch SelfieError.notFound {
            return nil
        }
    }

    /// A page of a list.
    ///
    /// - Parameters:
    ///   - filters: What all records fit; each field once, and with an index.
    ///   - order: Which comes first.
    ///   - after: ``RecordPage/next`` of the page before; nil for the first.
    ///   - limit: 1 to 200.
    ///   - include: Fields that are references: the records behind them come along.
    /// - Returns: The records, and what to send as `after` for the next page.
    /// - Throws: ``SelfieError/invalid(_:)`` with the code `index_missing` if a field has no index.
    public func page(
        where filters: [RecordFilter] = [],
        order: RecordOrder = .oldestFirst,
        after: String? = nil,
        limit: Int = 50,
        include: [String] = []
    ) async throws -> RecordPage<Fields> {
        let query: KeyValuePairs<String, String?> = [
            "where": try RecordFilter.parameter(filters), "order": order.parameter, "after": after,
            "limit": "\(limit)", "include": include.isEmpty ? nil : include.joined(separator: ","),
        ]
        let call = Call("GET", api.url(path, query: query))
        return RecordPage(try await api.send(call, as: RecordPageAnswer<Fields>.self), path: path)
    }

    /// All records of a list, page by page as they are asked for.
    ///
    /// - Parameters:
    ///   - filters: What all records fit; each field once, and with an index.
    ///   - order: Which comes first.
    ///   - pageSize: 1 to 200.
    /// - Returns: The records, in that order.
    public func all(
        where filters: [RecordFilter] = [],
        order: RecordOrder = .oldestFirst,
        pageSize: Int = 200
    ) -> PagedSequence<Record<Fields>> {
        PagedSequence { after in
            let page = try await page(where: filters, order: order, after: after, limit: pageSize)
            return (page.records, page.next)
        }
    }

    /// How many records fit.
    ///
    /// - Parameter filters: What all records fit.
    /// - Returns: The number, and whether there are more: the service counts 10,000 at most.
    /// - Throws: ``SelfieError/invalid(_:)`` with the code `index_missing` if a field has no index.
    public func count(where filters: [RecordFilter] = []) async throws -> (count: Int, isLimited: Bool) {
        let query: KeyValuePairs<String, String?> = [
            "where": try RecordFilter.parameter(filters), "count": "true", "limit": "1",
        ]
        let answer: RecordCountAnswer = try await api.send(Call("GET", api.url(path, query: query)))
        return (answer.count, answer.isLimited)
    }

    // MARK: Writing

    /// Creates a record under an id of the client's, so that it is there once, even if an answer is lost.
    ///
    /// - Parameters:
    ///   - fields: Its data.
    ///   - id: Its id; a random one by default.
    ///   - readers: Members who may read it; nil for none, or what the collection says.
    ///   - writers: Members who may change it.
    ///   - expiresAt: When it goes by itself.
    /// - Returns: The record as it is stored.
    /// - Throws: ``SelfieError/versionDiffers(_:)`` or ``SelfieError/conflict(_:)`` if the id is taken.
    @discardableResult
    public func create(
        _ fields: Fields,
        id: String = UUID().uuidString.lowercased(),
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiresAt: Date? = nil
    ) async throws -> Record<Fields> {
        let body = RecordBody(data: fields, readers: readers, writers: writers, expiresAt: expiresAt)
        // An inbox takes the same message again by itself, and shows its sender nothing.
        let condition = inbox == nil ? RecordWrite.Condition.absent : .none
        let path = try RecordPath.record(id, in: path)
        return try await write(RecordWrite(path: path, kind: .put, condition: condition, body: try body.json))
    }

    /// Creates records under ids of the service's: all or none.
    ///
    /// After a lost answer, it is not known whether they are there. So it is not tried again by itself.
    ///
    /// - Parameter fields: The data of up to 100 records.
    /// - Returns: The records in the same order.
    /// - Throws: ``SelfieError/invalid(_:)`` if the service refuses one of them.
    @discardableResult
    public func create(contentsOf fields: [Fields]) async throws -> [Record<Fields>] {
        var call = Call("POST", api.url(path))
        try call.send(fields.map { RecordBody(data: $0) })
        let answers: [RecordAnswer<Fields>] = try await api.send(call)
        return answers.map { Record($0, path: path + [$0.id]) }
    }

    /// Creates or replaces a record.
    ///
    /// All its data is replaced, also fields that the type does not know. What somebody else has changed meanwhile is lost;
    /// ``update(_:)`` and ``modify(_:_:)`` keep it.
    ///
    /// - Parameters:
    ///   - fields: Its data.
    ///   - id: Its id.
    ///   - readers: Members who may read it; nil leaves them as they are.
    ///   - writers: Members who may change it; nil leaves them as they are.
    ///   - expiresAt: When it goes by itself; nil leaves that as it is.
    /// - Returns: The record as it is stored.
    /// - Throws: ``SelfieError/invalid(_:)`` if the service refuses the data, ``SelfieError/forbidden(_:)`` for readers.
    @discardableResult
    public func save(
        _ fields: Fields,
        id: String,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiresAt: Date? = nil
    ) async throws -> Record<Fields> {
        let body = RecordBody(data: fields, readers: readers, writers: writers, expiresAt: expiresAt)
        return try await write(RecordWrite(path: RecordPath.record(id, in: path), kind: .put, body: try body.json))
    }

    /// Stores a record's changed fields, if nobody has changed it since it was read.
    ///
    /// Only what was changed is sent. Fields that the type does not know stay as they are.
    ///
    /// - Throws: ``SelfieError/versionDiffers(_:)`` if somebody has.
    @discardableResult
    public func update(_ record: Record<Fields>) async throws -> Record<Fields> {
        let body = RecordBody(data: try record.changes())
        return try await write(
            RecordWrite(
                path: RecordPath.record(record.id, in: path),
                kind: .patch,
                condition: .version(record.version),
                body: try body.json
            )
        )
    }

    /// Reads a record, changes it and stores it; again if somebody else has changed it meanwhile.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - change: Changes its data. It may be called several times.
    /// - Returns: The record as it is stored.
    /// - Throws: What `change` throws, or ``SelfieError/versionDiffers(_:)`` after ten tries.
    @discardableResult
    public func modify(_ id: String, _ change: (inout Fields) throws -> Void) async throws -> Record<Fields> {
        let userID = try api.sessions.currentIfSignedIn().userID
        var tries = 0
        while true {
            tries += 1
            var record = try await record(id)
            try change(&record.fields)
            guard try api.sessions.current()?.userID == userID else { throw SelfieError.notSignedIn }
            do {
                return try await update(record)
            } catch let error as SelfieError {
                guard case .versionDiffers = error, tries < 10 else { throw error }
                try await Task.sleep(for: Backoff.pause(after: min(tries, 3)))
            }
        }
    }

    /// Deletes a record.
    ///
    /// If it is gone already, nothing happens.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - version: Deletes it only if it still has this version.
    /// - Throws: ``SelfieError/conflict(_:)`` while another record refers to it.
    public func delete(_ id: String, version: Int? = nil) async throws {
        let condition = version.map { RecordWrite.Condition.version($0) } ?? .none
        let path = try RecordPath.record(id, in: path)
        _ = try await RecordWrite(path: path, kind: .delete, condition: condition).send(api, nil)
    }

    private func write(_ write: RecordWrite) async throws -> Record<Fields> {
        guard let response = try await write.send(api, nil) else { throw SelfieError.unexpectedAnswer(status: 200) }
        return Record(try api.decode(RecordAnswer<Fields>.self, from: response), path: write.path)
    }

    private func answer(to call: Call) async throws -> Record<Fields> {
        let answer: RecordAnswer<Fields> = try await api.send(call)
        return Record(answer, path: path + [answer.id])
    }
}

extension Selfie {
    /// The records of a collection that the user can see.
    public func records<Fields: RecordFields>(_: Fields.Type = Fields.self) -> Records<Fields> {
        Records(api: api, inbox: nil)
    }

    /// The inbox of a member, for sending to it.
    ///
    /// Sending the same again under the same id does nothing.
    ///
    /// - Parameters:
    ///   - member: The member's id.
    ///   - type: What the collection holds.
    /// - Returns: The inbox, for writing.
    public func inbox<Fields: RecordFields>(of member: String, _ type: Fields.Type = Fields.self) -> Records<Fields> {
        Records(api: api, inbox: member)
    }
}

enum RecordPath {
    /// The segments of a collection's path behind `api`.
    static func collection(_ name: String, inbox: String?) -> [String] {
        (inbox.map { ["members", $0] } ?? []) + ["records", name]
    }

    /// The segments of a record's path behind `api`.
    ///
    /// - Throws: ``SelfieError/invalid(_:)`` for an id that a path can't have: `.` and `..` would lead elsewhere.
    static func record(_ id: String, in path: [String]) throws -> [String] {
        guard !["", ".", ".."].contains(id) else {
            let message = "id - has 1 to 255 of A-Z a-z 0-9 . _ : ~ @ -, and is neither . nor .."
            throw SelfieError.invalid(.init(status: 400, code: "record_id_invalid", message: message))
        }
        return path + [id]
    }
}
