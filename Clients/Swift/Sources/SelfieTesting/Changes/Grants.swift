import Foundation

/// A record or a photo.
struct ItemKey: Hashable, Sendable {
    let collection: String
    /// The member whose inbox it is in; nil for all others.
    let inbox: String?
    let id: String

    static func photo(_ id: String) -> ItemKey { ItemKey(collection: "photos", inbox: nil, id: id) }

    /// Whether a text can be an id.
    static func isValid(_ id: String) -> Bool {
        id.range(of: #"\A[A-Za-z0-9._:~@-]{1,255}\z"#, options: .regularExpression) != nil
    }
}

/// What a user may do with a record or a photo.
struct Rights: OptionSet, Sendable {
    let rawValue: Int

    static let read = Rights(rawValue: 1)
    static let write = Rights(rawValue: 2)
    static let delete = Rights(rawValue: 4)
    static let share = Rights(rawValue: 8)
    static let all: Rights = [.read, .write, .delete, .share]
}

/// Who may do what, and the order in which each reader is told of changes.
///
/// As in the real service, a grant is at once the permission and the reader's place in the feed.
struct Grants: Sendable {
    /// A grant without rights tells its reader that the item has gone.
    private struct Grant: Sendable {
        var rights: Rights
        /// The number of the last change that the reader is told of.
        var place: Int
        /// The number of the change by which the reader first saw the item.
        var since: Int
    }

    /// A change as a reader sees it.
    struct Change: Sendable {
        enum Kind: String, Sendable { case created, updated, deleted }

        let kind: Kind
        let key: ItemKey
        let place: Int
    }

    private var byReader: [String: [ItemKey: Grant]] = [:]
    /// The number of the last change.
    private(set) var count = 0

    func rights(of reader: String, to key: ItemKey) -> Rights { byReader[reader]?[key]?.rights ?? [] }

    /// Sets who may do what with an item that was changed, or deleted if nobody may do anything.
    ///
    /// - Parameters:
    ///   - rights: The rights of all who have any.
    ///   - key: The item.
    ///   - isTold: Whether a reader who keeps the right to read is told.
    mutating func set(_ rights: [String: Rights], of key: ItemKey, isTold: (String) -> Bool = { _ in true }) {
        count += 1
        let before = byReader.filter { $0.value[key] != nil }.keys
        for reader in Set(before).union(rights.keys) { set(rights[reader] ?? [], of: reader, key, isTold(reader)) }
    }

    private mutating func set(_ rights: Rights, of reader: String, _ key: ItemKey, _ isTold: Bool) {
        var grant = byReader[reader]?[key] ?? Grant(rights: [], place: 0, since: 0)
        switch (grant.rights.contains(.read), rights.contains(.read)) {
        case (false, false): return
        case (false, true): (grant.place, grant.since) = (count, count)
        case (true, false): grant.place = count
        case (true, true): if isTold { grant.place = count }
        }
        grant.rights = rights
        byReader[reader, default: [:]][key] = grant
    }

    /// Sets the rights of one reader to an item that has not changed.
    ///
    /// A right that goes is no change for the reader.
    mutating func set(_ rights: Rights, of reader: String, to key: ItemKey) {
        if rights.isEmpty {
            byReader[reader]?[key] = nil
        } else if byReader[reader]?[key]?.rights != rights {
            count += 1
            set(rights, of: reader, key, true)
        }
    }

    /// Who may read an item.
    func readers(of key: ItemKey) -> [String] {
        byReader.filter { $0.value[key]?.rights.contains(.read) ?? false }.map(\.key)
    }

    mutating func removeReader(_ reader: String) { byReader[reader] = nil }

    /// What has changed for a reader, in order: each item once.
    ///
    /// - Parameters:
    ///   - reader: Who asks.
    ///   - place: The last number that the reader has; 0 for none.
    /// - Returns: The changes behind that number.
    func changes(for reader: String, after place: Int) -> [Change] {
        (byReader[reader] ?? [:]).compactMap { key, grant in
            guard grant.place > place else { return nil }
            guard grant.rights.contains(.read) else {
                // Who has nothing needs not be told of what has gone.
                return place == 0 ? nil : Change(kind: .deleted, key: key, place: grant.place)
            }
            return Change(kind: grant.since > place ? .created : .updated, key: key, place: grant.place)
        }
        .sorted { $0.place < $1.place }
    }
}
