public import Foundation

/// Records that are created, changed and deleted by way of the outbox.
extension Outbox {
    /// Adds a record to create, or a message to send to an inbox.
    ///
    /// When this returns, it is on disk and will arrive.
    ///
    /// - Parameters:
    ///   - fields: The record's data.
    ///   - id: The record's id; a random one by default.
    ///   - inbox: The member to whose inbox it is sent; nil for a record of the collection.
    ///   - readers: Members who may read it; nil for none, or what the collection says.
    ///   - writers: Members who may change it.
    ///   - expiresAt: When it goes by itself.
    ///   - photos: Fields that get the ids of photos, by their uploads: those of the outbox, or of the last 200 that were sent.
    ///   - after: Items that must be done before.
    /// - Returns: The item's id.
    /// - Throws: ``SelfieError/diskFull``, ``SelfieError/outboxFull``, ``SelfieError/notSignedIn``, or
    ///   ``SelfieError/dependencyDropped`` for an upload that is not known. Nothing is kept then.
    @discardableResult
    public func create<Fields: RecordFields>(
        _ fields: Fields,
        id: String = UUID().uuidString.lowercased(),
        inbox: String? = nil,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiresAt: Date? = nil,
        photos: [String: OutboxItem.ID] = [:],
        after: [OutboxItem.ID] = []
    ) throws -> OutboxItem.ID {
        let body = RecordBody(data: fields, readers: readers, writers: writers, expiresAt: expiresAt)
        let path = try RecordPath.record(id, in: RecordPath.collection(Fields.collection, inbox: inbox))
        // An inbox takes the same message again by itself, and shows its sender nothing.
        let condition = inbox == nil ? RecordWrite.Condition.absent : .none
        return try add(
            RecordWrite(path: path, kind: .put, condition: condition, body: try body.json),
            photos: photos,
            after: after
        )
    }

    /// Adds a record to create or replace.
    ///
    /// When this returns, it is on disk and will arrive. Without a version, it counts whatever somebody else has changed until
    /// then. ``update(_:ifUnchanged:readers:writers:expiresAt:photos:after:)`` keeps what others have changed in other fields.
    ///
    /// - Parameters:
    ///   - fields: All data of the record.
    ///   - id: The record's id.
    ///   - version: The version that it replaces. If there is another one, the service refuses it.
    ///   - readers: Members who may read it; nil leaves them as they are.
    ///   - writers: Members who may change it; nil leaves them as they are.
    ///   - expiresAt: When it goes by itself; nil leaves that as it is.
    ///   - photos: Fields that get the ids of photos, by their uploads: those of the outbox, or of the last 200 that were sent.
    ///   - after: Items that must be done before.
    /// - Returns: The item's id.
    /// - Throws: As ``create(_:id:inbox:readers:writers:expiresAt:photos:after:)``.
    @discardableResult
    public func save<Fields: RecordFields>(
        _ fields: Fields,
        id: String,
        version: Int? = nil,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiresAt: Date? = nil,
        photos: [String: OutboxItem.ID] = [:],
        after: [OutboxItem.ID] = []
    ) throws -> OutboxItem.ID {
        let body = RecordBody(data: fields, readers: readers, writers: writers, expiresAt: expiresAt)
        return try add(
            RecordWrite(
                path: RecordPath.record(id, in: RecordPath.collection(Fields.collection, inbox: nil)),
                kind: .put,
                condition: version.map { .version($0) } ?? .none,
                body: try body.json
            ),
            photos: photos,
            after: after
        )
    }

    /// Adds a record's changed fields to send.
    ///
    /// When this returns, they are on disk and will arrive. Only what was changed since the record was read is sent. Other
    /// fields stay as they are, whoever has changed them meanwhile. So a record can be changed several times without a network.
    ///
    /// - Parameters:
    ///   - record: The record with its changed fields.
    ///   - ifUnchanged: Whether the service refuses it if anybody has changed the record since it was read.
    ///   - readers: Members who may read it; nil leaves them as they are.
    ///   - writers: Members who may change it; nil leaves them as they are.
    ///   - expiresAt: When it goes by itself; nil leaves that as it is.
    ///   - photos: Fields that get the ids of photos, by their uploads: those of the outbox, or of the last 200 that were sent.
    ///   - after: Items that must be done before.
    /// - Returns: The item's id.
    /// - Throws: As ``create(_:id:inbox:readers:writers:expiresAt:photos:after:)``.
    @discardableResult
    public func update<Fields: RecordFields>(
        _ record: Record<Fields>,
        ifUnchanged: Bool = false,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiresAt: Date? = nil,
        photos: [String: OutboxItem.ID] = [:],
        after: [OutboxItem.ID] = []
    ) throws -> OutboxItem.ID {
        let path = try RecordPath.record(record.id, in: RecordPath.collection(Fields.collection, inbox: nil))
        let changes = try record.changes(behind: writes(to: path, after: record.version))
        let body = RecordBody(data: changes, readers: readers, writers: writers, expiresAt: expiresAt)
        return try add(
            RecordWrite(
                path: path,
                kind: .patch,
                condition: ifUnchanged ? .version(record.version) : .none,
                body: try body.json
            ),
            photos: photos,
            after: after
        )
    }

    /// Adds a record to delete.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - type: What its collection holds.
    ///   - inbox: The member whose inbox it was sent to; nil for a record of the collection.
    ///   - version: Deletes it only if it still has this version.
    /// - Returns: The item's id.
    /// - Throws: ``SelfieError/diskFull``, ``SelfieError/outboxFull`` or ``SelfieError/notSignedIn``. Nothing is kept then.
    @discardableResult
    public func delete<Fields: RecordFields>(
        _ id: String,
        of type: Fields.Type,
        inbox: String? = nil,
        version: Int? = nil
    ) throws -> OutboxItem.ID {
        let path = try RecordPath.record(id, in: RecordPath.collection(Fields.collection, inbox: inbox))
        return try add(RecordWrite(path: path, kind: .delete, condition: version.map { .version($0) } ?? .none))
    }
}
