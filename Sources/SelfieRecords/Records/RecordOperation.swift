package import RecordSchema

/// Where records are.
package struct RecordLocation: Sendable {
    package let collection: String
    /// The member whose inbox it is; nil for the caller's own, and for other collections.
    package let inboxOf: String?

    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - inboxOf: The id of the member whose inbox it is; nil for the caller's own.
    package init(collection: String, inboxOf: String?) {
        self.collection = collection
        self.inboxOf = inboxOf
    }
}

/// What a client wants to do with one record.
package struct RecordOperation: Sendable {
    /// What to do.
    package enum Action: Sendable, Equatable {
        /// Create a record, with the client's id or a generated one.
        case create
        /// Create or replace the record with the id.
        case put
        /// Change the record with the id by a merge patch.
        case patch
        case delete
    }

    /// When the record expires.
    package enum Expiry: Sendable, Equatable {
        case unchanged
        case never
        case at(Timestamp)

        /// When a record expires after the operation, by its expiry before; nil for never.
        func end(after old: Timestamp?) -> Timestamp? {
            switch self {
            case .unchanged: old
            case .never: nil
            case .at(let time): time
            }
        }
    }

    /// What must be true of the record before.
    package enum Condition: Sendable, Equatable {
        case none
        /// It exists.
        case exists
        /// It does not exist.
        case absent
        /// It has one of these versions.
        case version(Set<Int>)
    }

    package let action: Action
    /// Nil to generate one.
    package let id: String?
    /// As JSON; for a patch, the patch.
    ///
    /// Nil when nothing is to change.
    package let data: String?
    /// The members who read it, as ids that keep to ``RecordID``; nil when that is not to change.
    package let readers: [String]?
    /// The members who read and write it; nil when that is not to change.
    package let writers: [String]?
    package let expiry: Expiry
    package let condition: Condition

    /// - Parameters:
    ///   - action: What to do.
    ///   - id: The record's id; nil to generate one.
    ///   - data: The data or the patch as JSON; nil when that is not to change.
    ///   - readers: The members who read it; nil when that is not to change.
    ///   - writers: The members who read and write it; nil when that is not to change.
    ///   - expiry: When it expires.
    ///   - condition: What must be true of it before.
    package init(
        _ action: Action,
        id: String?,
        data: String? = nil,
        readers: [String]? = nil,
        writers: [String]? = nil,
        expiry: Expiry = .unchanged,
        condition: Condition = .none
    ) {
        self.action = action
        self.id = id
        self.data = data
        self.readers = readers
        self.writers = writers
        self.expiry = expiry
        self.condition = condition
    }

    /// Whether it may delete an existing record, now or by an expiry.
    var mayEndRecord: Bool {
        switch (action, expiry) {
        case (.delete, _), (.put, .at), (.patch, .at): true
        case (.create, _), (.put, _), (.patch, _): false
        }
    }

    /// Whether it names readers or writers.
    var namesMembers: Bool { readers != nil || writers != nil }

    /// All named members, readers and writers.
    var named: Set<String> { Set((readers ?? []) + (writers ?? [])) }
}
