import Foundation
import SelfieClient

/// A record that is there.
struct StoredRecord: Sendable {
    let key: ItemKey
    var data: [String: JSONValue]
    let ownerID: String
    var readers: [String]
    var writers: [String]
    var version: Int
    let createdAt: Date
    var updatedAt: Date
    var expiresAt: Date?
    /// Its place among all records.
    let number: Int

    /// The value of a field, or one of the record's own times.
    func value(of field: String) -> JSONValue? {
        data[field] ?? ["created_at": JSONValue(createdAt), "updated_at": JSONValue(updatedAt)][field]
    }
}

/// A message as it was sent, whatever has become of it.
struct SentMessage: Sendable {
    let ownerID: String
    let data: [String: JSONValue]
    let createdAt: Date
    let expiresAt: Date?
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
    mutating func add(
        _ key: ItemKey,
        _ data: [String: JSONValue],
        ownerID: String,
        readers: [String],
        writers: [String],
        expiresAt: Date?,
        at now: Date
    ) -> StoredRecord {
        count += 1
        let record = StoredRecord(
            key: key,
            data: data,
            ownerID: ownerID,
            readers: readers,
            writers: writers,
            version: (deletedVersions[key] ?? 0) + 1,
            createdAt: now,
            updatedAt: now,
            expiresAt: expiresAt,
            number: count
        )
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
