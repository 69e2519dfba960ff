import Foundation

/// A page of the feed, as the service sends it and as it is stored.
struct ChangePage: Codable {
    var changes: [Change]
    var cursor: String?
    var more: Bool

    /// A change: `created` and `updated` have the whole record or photo.
    struct Change: Codable {
        var type: String
        var collection: String
        var id: String
        var record: JSONValue?
        var photo: JSONValue?
    }
}

/// Which record or photo it is.
struct ReplicaKey: Sendable, Hashable {
    /// `photos` for a photo.
    let collection: String
    let id: String
}

/// What a replica has of a record or a photo.
struct ReplicaEntry: Sendable {
    /// The record or photo as the service sends it.
    let json: Data
    let expiresAt: Date?
    /// The ids of its photos.
    let photoIDs: Set<String>

    /// - Parameters:
    ///   - collection: Its collection; `photos` for a photo.
    ///   - id: Its id.
    ///   - value: The record or photo as the service sends it.
    /// - Throws: `EncodingError`.
    init(_ collection: String, _ id: String, _ value: JSONValue) throws {
        json = try JSONCoding.encode(value)
        expiresAt = value["expires_at"]?.text.flatMap(JSONCoding.date(of:))
        if collection == "photos" {
            photoIDs = [id]
        } else if value["photos"] == .none {
            photoIDs = []
        } else {
            let photos = try? JSONCoding.decode(RecordPhotos.self, from: json)
            photoIDs = Set(photos?.links(path: []).values.flatMap(\.keys) ?? [])
        }
    }

    /// The record; nil if its data does not fit the type.
    func record<Fields: RecordFields>() -> Record<Fields>? {
        guard let answer = try? JSONCoding.decode(RecordAnswer<Fields>.self, from: json) else { return nil }
        return Record(answer, path: RecordPath.collection(Fields.collection, inbox: nil) + [answer.id])
    }

    func hasExpired(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }

    func photo() -> Photo? { try? JSONCoding.decode(Photo.self, from: json) }

    var value: JSONValue { (try? JSONCoding.decode(JSONValue.self, from: json)) ?? .null }
}

/// The contents of a replica: a plain value.
struct ReplicaCopy: Sendable {
    private(set) var cursor: String?
    private var entries: [String: [String: ReplicaEntry]] = [:]
    /// How many entries have each photo.
    private var photoUses: [String: Int] = [:]
    /// The bytes of all entries.
    private(set) var byteCount = 0

    var isEmpty: Bool { entries.values.allSatisfy(\.isEmpty) }

    mutating func apply(_ page: ChangePage) {
        for change in page.changes {
            let value = change.record ?? change.photo
            if change.type != "deleted", let value,
                let entry = try? ReplicaEntry(change.collection, change.id, value)
            {
                set(change.collection, change.id, entry)
            } else {
                remove(change.collection, change.id)
            }
        }
        if let cursor = page.cursor { self.cursor = cursor }
    }

    private mutating func set(_ collection: String, _ id: String, _ entry: ReplicaEntry) {
        remove(collection, id)
        entries[collection, default: [:]][id] = entry
        byteCount += entry.json.count
        for photo in entry.photoIDs { photoUses[photo, default: 0] += 1 }
    }

    private mutating func remove(_ collection: String, _ id: String) {
        guard let entry = entries[collection]?.removeValue(forKey: id) else { return }
        byteCount -= entry.json.count
        for photo in entry.photoIDs {
            let uses = photoUses[photo, default: 1] - 1
            photoUses[photo] = uses > 0 ? uses : nil
        }
    }

    /// Whether any entry has a photo.
    func hasPhoto(_ id: String) -> Bool { photoUses[id] != nil }

    func entry(_ key: ReplicaKey) -> ReplicaEntry? { entries[key.collection]?[key.id] }

    func entries(of collection: String) -> [String: ReplicaEntry] { entries[collection] ?? [:] }

    /// The ids of the photos of some entries.
    func photoIDs(of keys: some Sequence<ReplicaKey>) -> Set<String> {
        keys.reduce(into: []) { $0.formUnion(entry($1)?.photoIDs ?? []) }
    }

    /// The ids of the photos that no entries have but some.
    func photoIDs(onlyOf keys: Set<ReplicaKey>) -> Set<String> {
        var uses: [String: Int] = [:]
        for photo in keys.flatMap({ entry($0)?.photoIDs ?? [] }) { uses[photo, default: 0] += 1 }
        return Set(uses.filter { photoUses[$0.key] == $0.value }.keys)
    }

    /// The keys of what is different, missing or new in another copy.
    func keys(differingFrom other: ReplicaCopy) -> [ReplicaKey] {
        Set(entries.keys).union(other.entries.keys).flatMap { collection in
            let (mine, others) = (entries[collection] ?? [:], other.entries[collection] ?? [:])
            return Set(mine.keys).union(others.keys).filter { mine[$0]?.json != others[$0]?.json }
                .map { ReplicaKey(collection: collection, id: $0) }
        }
    }

    /// The keys of what has expired.
    func expired(at date: Date) -> [ReplicaKey] {
        entries.flatMap { collection, entries in
            entries.filter { $0.value.hasExpired(at: date) }.map { ReplicaKey(collection: collection, id: $0.key) }
        }
    }

    /// When the next entry expires.
    func nextExpiry(after date: Date) -> Date? {
        entries.values.flatMap { $0.values.compactMap(\.expiresAt).filter { $0 > date } }.min()
    }

    /// The contents as pages that make the same copy again.
    ///
    /// The last one has the cursor.
    func pages(of size: Int) -> [ChangePage] {
        let changes = entries.flatMap { collection, entries in
            entries.map { id, entry in
                let value = entry.value
                let isPhoto = collection == "photos"
                return ChangePage.Change(
                    type: "created",
                    collection: collection,
                    id: id,
                    record: isPhoto ? nil : value,
                    photo: isPhoto ? value : nil
                )
            }
        }
        var pages = stride(from: 0, to: changes.count, by: size).map { start in
            ChangePage(changes: Array(changes[start..<min(start + size, changes.count)]), cursor: nil, more: true)
        }
        pages.append(ChangePage(changes: [], cursor: cursor, more: false))
        return pages
    }
}
