import Foundation
import SelfieClient

/// A record that is there.
struct StoredRecord: Sendable {
    let key: ItemKey
    var data: [String: JSONValue]
    let ownerID: String
    var readers: [String]
    var writers: [String]
    var version = 0
    let createdAt: Date
    var updatedAt: Date
    var expiresAt: Date?
    /// Its place among all records.
    var number = 0
    /// What its fields name, and who has let them.
    var links: [RecordLink: String] = [:]

    /// The value of a field, or one of the record's own times.
    func value(of field: String) -> JSONValue? {
        data[field] ?? ["created_at": JSONValue(createdAt), "updated_at": JSONValue(updatedAt)][field]
    }
}

/// What a field of a record names.
struct RecordLink: Hashable, Sendable {
    let field: String
    let id: String
}

/// All records, and what is remembered of those that were deleted.
struct RecordStore: Sendable {
    private var byKey: [ItemKey: StoredRecord] = [:]
    private var deletedVersions: [ItemKey: Int] = [:]
    private var count = 0
    /// No record expires before.
    private var nextExpiry = Date.distantFuture
    var sent: [ItemKey: SentMessage] = [:]

    var all: [StoredRecord] { byKey.values.sorted { $0.number < $1.number } }

    /// Those that have expired.
    mutating func expired(at now: Date) -> [StoredRecord] {
        // It is asked for at each request, so most of them look at no record.
        guard nextExpiry <= now else { return [] }
        let times = byKey.values.compactMap(\.expiresAt)
        nextExpiry = times.filter { $0 > now }.min() ?? .distantFuture
        return all.filter { ($0.expiresAt ?? .distantFuture) <= now }
    }

    private mutating func put(_ record: StoredRecord) {
        byKey[record.key] = record
        nextExpiry = min(nextExpiry, record.expiresAt ?? .distantFuture)
    }

    subscript(key: ItemKey) -> StoredRecord? { byKey[key] }

    /// Adds a record.
    ///
    /// It begins with the version behind that of a deleted one.
    mutating func add(_ record: StoredRecord) -> StoredRecord {
        count += 1
        var record = record
        (record.version, record.number) = ((deletedVersions[record.key] ?? 0) + 1, count)
        put(record)
        return record
    }

    /// Stores a record's next version.
    mutating func change(_ record: StoredRecord, at now: Date) -> StoredRecord {
        var next = record
        (next.version, next.updatedAt) = (record.version + 1, now)
        put(next)
        return next
    }

    mutating func remove(_ key: ItemKey) {
        guard let record = byKey.removeValue(forKey: key) else { return }
        deletedVersions[key] = record.version + 1
    }
}
