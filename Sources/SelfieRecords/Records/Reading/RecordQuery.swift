package import JSON
import RecordSchema

/// Which records a list has.
package struct RecordQuery: Sendable {
    /// The order of a list.
    package enum Order: String, Sendable, CaseIterable {
        /// The oldest first.
        case created
        /// The newest first.
        case newest = "-created"
    }

    /// Fields that have values.
    package let conditions: [(field: String, value: JSONValue)]
    /// The ids of the records; nil for all.
    package let ids: [String]?
    package let order: Order
    package let limit: Int
    /// The record after which the list begins; nil for the beginning.
    package let after: Position?
    /// The reference fields whose targets are wanted, too.
    package let include: [String]

    /// A position in a list: a record, which may be deleted meanwhile.
    package struct Position: Sendable {
        let id: String
        /// When it was created, in microseconds since 1970; nil if it does not matter.
        ///
        /// An id may be used again, for another record.
        let createdAt: Int?

        /// - Parameter text: What a page has as `next`, or an id.
        package init?(_ text: String) {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count), RecordID.isValid(String(parts[0])) else { return nil }
            id = String(parts[0])
            guard parts.count == 2 else {
                createdAt = nil
                return
            }
            guard let time = Int(parts[1]), (0..<1 << 53).contains(time) else { return nil }
            createdAt = time
        }
    }

    /// The most records of a page by default.
    package static let usualLimit = 50
    /// The most fields whose records are wanted, too.
    package static let maxIncludeCount = 8
    /// The records that are looked at for several conditions at once.
    static let maxLookedAtCount = 10_000
    /// The bytes of data after which a page ends.
    static let maxPageBytes = 1 << 20

    /// - Parameters:
    ///   - conditions: Fields that have values.
    ///   - ids: The ids of the records; nil for all.
    ///   - order: The order.
    ///   - limit: The most records, at most ``RecordLimits/maxPageCount``.
    ///   - after: The record after which the list begins; nil for the beginning.
    ///   - include: The fields whose records are wanted, too.
    package init(
        conditions: [(field: String, value: JSONValue)] = [],
        ids: [String]? = nil,
        order: Order = .created,
        limit: Int = usualLimit,
        after: Position? = nil,
        include: [String] = []
    ) {
        self.conditions = conditions
        self.ids = ids
        self.order = order
        self.limit = limit
        self.after = after
        self.include = include
    }
}

/// A page of a list of records.
package struct RecordPage: Sendable {
    package let records: [StoredRecord]
    /// The records that they refer to, each once.
    package let included: [StoredRecord]
    /// Where the next page begins; nil for the last page.
    package let next: String?
}
