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

/// What a client wants to be done with one record.
package struct RecordOperation: Sendable {
    /// What is to be done.
    package enum Action: Sendable, Equatable {
        /// A new record, with the id or one of ours.
        case create
        /// The record of the id is to have this data, whether it is there or not.
        case put
        /// The record of the id is changed by a merge patch.
        case patch
        case delete
    }

    /// When the record ends by itself.
    package enum Expiry: Sendable, Equatable {
        case unchanged
        case never
        case at(Timestamp)

        /// When a record ends that had another end; nil for never.
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
        /// It is there.
        case exists
        /// It is not there.
        case absent
        /// It has one of these versions.
        case version(Set<Int>)
    }

    package let action: Action
    /// Nil for one of ours.
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
    ///   - action: What is to be done.
    ///   - id: The record's id; nil for one of ours.
    ///   - data: The data or the patch as JSON; nil when that is not to change.
    ///   - readers: The members who read it; nil when that is not to change.
    ///   - writers: The members who read and write it; nil when that is not to change.
    ///   - expiry: When it ends by itself.
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

    /// Whether a record that is there may go by it, now or later.
    var mayEndRecord: Bool {
        switch (action, expiry) {
        case (.delete, _), (.put, .at), (.patch, .at): true
        case (.create, _), (.put, _), (.patch, _): false
        }
    }

    /// Whether it says who reads or writes.
    var namesMembers: Bool { readers != nil || writers != nil }

    /// All members who are named, without regard to what they may do.
    var named: Set<String> { Set((readers ?? []) + (writers ?? [])) }
}
