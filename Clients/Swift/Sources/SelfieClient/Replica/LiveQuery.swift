import Foundation

/// The records or photos that fit, in their order: a plain value that is told what has changed.
struct LiveQuery<Element: Sendable>: Sendable {
    private typealias Match = (key: SortKey, element: Element)

    /// The collection that it looks at.
    let collection: String
    private let isDescending: Bool
    private let limit: Int?
    private let match: @Sendable (ReplicaEntry) -> (key: SortKey, element: Element)?
    private let isSame: @Sendable (Element, Element) -> Bool
    private var matches: [String: Match] = [:]
    /// The keys of all matches, the smallest first.
    private var keys: [SortKey] = []

    /// What was different.
    struct Difference: Sendable {
        var inserted: [Element] = []
        var updated: [Element] = []
        /// Ids.
        var removed: [String] = []

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
    }

    /// Takes over entries that have changed.
    ///
    /// - Parameter entries: What the replica has now; nil for what is gone.
    /// - Returns: What is different, without regard to the limit.
    @discardableResult
    mutating func update(_ entries: [String: ReplicaEntry?]) -> Difference {
        var difference = Difference()
        // Sorting all is faster than many single steps.
        let sortsAll = entries.count > 16 + keys.count / 16
        for (id, entry) in entries {
            let (old, new) = (matches[id], entry.flatMap(match))
            switch (old, new) {
            case (nil, nil): continue
            case (_?, nil): difference.removed.append(id)
            case (nil, let new?): difference.inserted.append(new.element)
            case (let old?, let new?):
                if !isSame(old.element, new.element) { difference.updated.append(new.element) }
            }
            matches[id] = new
            guard !sortsAll, old?.key != new?.key else { continue }
            if let old { keys.remove(at: position(of: old.key)) }
            if let new { keys.insert(new.key, at: position(of: new.key)) }
        }
        if sortsAll { keys = matches.values.map(\.key).sorted() }
        return difference
    }

    /// How many keys are smaller.
    private func position(of key: SortKey) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// What fits, in order.
    var results: [Element] {
        let count = min(limit ?? keys.count, keys.count)
        let ids = isDescending ? keys.reversed().prefix(count).map(\.id) : keys.prefix(count).map(\.id)
        return ids.compactMap { matches[$0]?.element }
    }
}

extension LiveQuery {
    /// A query for records.
    init<Fields: RecordFields>(filters: [RecordFilter], order: RecordOrder, limit: Int?)
    where Element == Record<Fields> {
        let field: String?
        switch order {
        case .oldestFirst, .newestFirst: field = nil
        case .ascending(let name), .descending(let name): field = name
        }
        switch order {
        case .oldestFirst, .ascending: isDescending = false
        case .newestFirst, .descending: isDescending = true
        }
        (collection, self.limit) = (Fields.collection, limit)
        isSame = { $0.isSameVersion(as: $1) }
        match = { entry in
            let value: JSONValue? = filters.isEmpty && field == .none ? .none : entry.value
            guard filters.allSatisfy({ $0.matches(value ?? .null) }), let record: Record<Fields> = entry.record()
            else { return nil }
            let place = field.map { IndexOrder(value?.indexed($0)) }
            return (SortKey(field: place, createdAt: record.createdAt, id: record.id), record)
        }
    }
}

extension LiveQuery<Photo> {
    /// The user's photos, the newest first.
    static var photos: LiveQuery {
        LiveQuery(
            collection: "photos",
            isDescending: true,
            limit: nil,
            match: { entry in
                entry.photo().map { (SortKey(field: nil, createdAt: $0.createdAt ?? .distantPast, id: $0.id), $0) }
            },
            isSame: { ($0.title, $0.name, $0.byteCount) == ($1.title, $1.name, $1.byteCount) }
        )
    }
}

/// Where a record is in the order of a query.
///
/// Records of one value are in the order of their creation.
struct SortKey: Sendable, Comparable {
    let field: IndexOrder?
    let createdAt: Date
    let id: String

    static func < (first: SortKey, second: SortKey) -> Bool {
        if let field = first.field, let other = second.field {
            if field < other { return true }
            if other < field { return false }
        }
        if first.createdAt != second.createdAt { return first.createdAt < second.createdAt }
        return first.id.utf8.lexicographicallyPrecedes(second.id.utf8)
    }
}
