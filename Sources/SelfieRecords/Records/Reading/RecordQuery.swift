import Encodings
package import RecordSchema

/// Which records a list has.
package struct RecordQuery: Sendable {
    /// What their fields must have, each field once.
    package let conditions: [FieldCondition]
    /// The ids of the records; nil for all.
    package let ids: [String]?
    package let order: Order
    package let limit: Int
    /// How many records are skipped at the beginning, at most ``maxLookedAtCount``.
    package let offset: Int
    /// The record after which the list begins; nil for the beginning.
    package let after: Position?
    /// The reference fields whose targets are wanted, too.
    package let include: [String]
    /// Whether all records of the list are counted, too.
    package let counts: Bool

    /// The order of a list.
    package struct Order: Sendable, Equatable {
        /// The index whose values are ordered; nil for the order in which records were created.
        package let index: String?
        /// Whether the greatest, or the newest, comes first.
        package let isDescending: Bool

        /// The word for the order in which records were created.
        package static let creation = "created"
        /// The oldest first.
        package static let created = Order(index: nil, isDescending: false)

        private init(index: String?, isDescending: Bool) {
            (self.index, self.isDescending) = (index, isDescending)
        }

        /// - Parameter text: `created`, or the name of an index, and `-` before it for the other direction.
        package init?(_ text: String) {
            isDescending = text.hasPrefix("-")
            let name = isDescending ? String(text.dropFirst()) : text
            guard Schema.isName(name) else { return nil }
            index = name == Self.creation ? nil : name
        }

        /// The order as ``init(_:)`` takes it.
        package var text: String { (isDescending ? "-" : "") + (index ?? Self.creation) }
    }

    /// A position in a list: a record, which may be deleted or changed meanwhile.
    package struct Position: Sendable {
        let id: String
        /// When it was created, in microseconds since 1970; nil if it does not matter.
        ///
        /// An id may be used again, for another record.
        let createdAt: Int?
        /// The order of the list, and the value that the record had in its index; nil for the order of creation.
        let ordered: (order: Order, value: String)?

        /// - Parameter text: What a page has as `next`, or an id.
        package init?(_ text: String) {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
            guard (1...3).contains(parts.count), RecordID.isValid(parts[0]) else { return nil }
            id = parts[0]
            guard parts.count > 1 else {
                (createdAt, ordered) = (nil, nil)
                return
            }
            guard let time = Int(parts[1]), (-1 << 58..<1 << 58).contains(time) else { return nil }
            createdAt = time
            guard parts.count == 3 else {
                ordered = nil
                return
            }
            guard let bytes = Base64URL.bytes(of: parts[2]), let text = String(validating: bytes, as: UTF8.self) else {
                return nil
            }
            let words = text.split(separator: "\0", omittingEmptySubsequences: false).map { String($0) }
            guard words.count == 2, let order = Order(words[0]) else { return nil }
            ordered = (order, words[1])
        }

        /// The text of a position.
        ///
        /// - Parameters:
        ///   - record: A record's id and time, as ``RecordRow/position`` has them.
        ///   - order: The order of the list.
        ///   - value: The record's value in its index.
        /// - Returns: What ``init(_:)`` takes.
        static func text(_ record: String, in order: Order, value: String?) -> String {
            guard let value, order.index != nil else { return record }
            let ordered = Array("\(order.text)\0\(value)".utf8)
            return "\(record),\(ordered.withUnsafeBytes(Base64URL.string))"
        }
    }

    /// The most records of a page by default.
    package static let usualLimit = 50
    /// The most fields whose records are wanted, too.
    package static let maxIncludeCount = 8
    /// The records that are looked at for a page at most, and counted at most.
    package static let maxLookedAtCount = 10_000
    /// The bytes of data after which a page ends.
    package static let maxPageBytes = 1 << 20

    /// - Parameters:
    ///   - conditions: What their fields must have.
    ///   - ids: The ids of the records; nil for all.
    ///   - order: The order.
    ///   - limit: The most records, at most ``RecordLimits/maxPageCount``.
    ///   - offset: How many records are skipped at the beginning, at most ``maxLookedAtCount``.
    ///   - after: The record after which the list begins; nil for the beginning.
    ///   - include: The fields whose records are wanted, too.
    ///   - counts: Whether all records of the list are counted, too.
    package init(
        conditions: [FieldCondition] = [],
        ids: [String]? = nil,
        order: Order = .created,
        limit: Int = usualLimit,
        offset: Int = 0,
        after: Position? = nil,
        include: [String] = [],
        counts: Bool = false
    ) {
        (self.conditions, self.ids, self.order, self.limit) = (conditions, ids, order, limit)
        self.offset = offset
        (self.after, self.include, self.counts) = (after, include, counts)
    }

    /// Whether more records may be looked at than the page has.
    package var searches: Bool {
        counts || offset > 0 || conditions.count > 1 || conditions.contains { !isAnswered(by: $0) }
    }

    /// Whether walking along an index in the order of the list finds just the records of one condition.
    func isAnswered(by condition: FieldCondition) -> Bool {
        guard order.index == nil else { return order.index == condition.field }
        // Of several values, each would be walked along as far as the offset.
        if case .isOneOf(let values) = condition.test { return values.count == 1 || offset == 0 }
        return false
    }
}

/// A page of a list of records.
package struct RecordPage: Sendable {
    package let records: [StoredRecord]
    /// The records that they refer to, each once.
    package let included: [StoredRecord]
    /// Where the next page begins; nil for the last page.
    package let next: String?
    /// Whether the page ended after ``RecordQuery/maxLookedAtCount`` records, most of which did not fit.
    package let isLimited: Bool
    /// The records of the list; nil when they were not counted.
    package let count: Count?

    /// A number of records.
    package struct Count: Sendable, Equatable {
        package let value: Int
        /// Whether there may be more: ``RecordQuery/maxLookedAtCount`` records were looked at.
        package let isLimited: Bool
    }
}
