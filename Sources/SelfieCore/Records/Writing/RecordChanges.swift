import Postgres
import RecordSchema

/// The rows that a call changes, as the arrays of one statement.
struct RecordChanges {
    private(set) var counters: StreamCounters
    /// The bytes of data that a user's records may have; nil for any number.
    private let quotaBytes: Int?
    /// How many more records of an author a member's stream shows, and the last operation that adds one.
    private(set) var authored: [AuthoredStream: Authored] = [:]
    private(set) var added = Added()
    private(set) var changed = Changed()
    /// The keys of records that go.
    private(set) var gone: [Int] = []
    /// The keys of records that stay as they are, under other rules.
    private(set) var reviewed: [Int] = []
    private(set) var granted = Granted()
    private(set) var dropped: (collections: [Int], keys: [Int], streams: [Int]) = ([], [], [])
    private(set) var indexed = Indexed()
    private(set) var referred = Referred()
    private(set) var pictured = Referred()
    /// The fields whose references stay or are new.
    private(set) var linked: (keys: [Int], fields: [String]) = ([], [])

    struct Added {
        var keys: [Int] = []
        var ids: [String] = []
        var data: [String] = []
        /// In milliseconds since 1970; 0 for none.
        var expiries: [Int] = []
        /// In hexadecimal digits; empty for none.
        var digests: [String] = []
    }

    /// A member's stream, and the owner of records that it shows.
    struct AuthoredStream: Hashable {
        let stream: Int
        let authorID: Int
    }

    /// What comes and goes of an author's records in a stream.
    struct Authored {
        /// How many more records it shows.
        var change = 0
        /// How many more of them wait in the stream's inboxes.
        var inboxChange = 0
        /// The last operation that adds one.
        var position: Int?
    }

    struct Changed {
        var keys: [Int] = []
        var data: [String] = []
        /// In milliseconds since 1970; 0 for none, -1 for the present one.
        var expiries: [Int] = []
    }

    struct Granted {
        var collections: [Int] = []
        var keys: [Int] = []
        var streams: [Int] = []
        var rights: [Int] = []
        /// 0 for none.
        var numbers: [Int] = []
        /// 0 for none.
        var shownNumbers: [Int] = []
    }

    struct Indexed {
        var streams: [Int] = []
        var collections: [Int] = []
        var fields: [String] = []
        var values: [String] = []
        var keys: [Int] = []
    }

    struct Referred {
        var keys: [Int] = []
        var fields: [String] = []
        var targets: [Int] = []
        /// The users who have set the references to records, or who own the photos that are referred to.
        var owners: [Int] = []
    }

    /// The rows of links' targets.
    struct Targets {
        /// The keys of records, by collection and id.
        var records: [RecordData.Target: Int] = [:]
        /// The rows of photos, and the users whose they are.
        var photos: [RecordData.Target: (row: Int, userID: Int)] = [:]
    }

    init(counters: StreamCounters, quotaBytes: Int?) {
        self.counters = counters
        self.quotaBytes = quotaBytes
    }

    /// The keys of records that were there before.
    var existingKeys: [Int] { changed.keys + gone + reviewed }

    /// Adds a record's change.
    ///
    /// - Parameters:
    ///   - draft: The record as it is to be.
    ///   - key: Its key.
    ///   - owner: Its owner; nil for one whose account is gone.
    ///   - author: The user who changes it; nil for the service itself.
    ///   - recipient: The stream of the member in whose inbox it is; nil for other records.
    ///   - targets: What its new links refer to.
    /// - Throws: `RecordRefusal` when there is no room.
    mutating func add(
        _ draft: RecordDraft,
        key: Int,
        owner: MemberStream?,
        author: Int?,
        recipient: Int?,
        targets: Targets
    ) throws(RecordRefusal) {
        let ownerStream = owner?.streamID ?? 0
        if draft.changesCount {
            try counters.count(draft.existing == nil ? 1 : -1, owner: ownerStream, recipient: recipient)
        }
        // What a call changes beside its own records is no matter of its quota.
        let limit = draft.position == nil ? nil : quotaBytes
        try counters.count(bytes: draft.ownerBytes, for: ownerStream, within: limit)
        if let recipient { try counters.count(bytes: draft.recipientBytes, for: recipient, within: limit) }
        addGrants(of: draft, key: key, owner: owner, recipient: recipient)
        guard let content = draft.content else {
            gone.append(key)
            return
        }
        if draft.existing == nil {
            added.keys.append(key)
            added.ids.append(draft.id)
            added.data.append(content.data.text)
            added.expiries.append(max(0, content.expiry.milliseconds))
            added.digests.append(content.sentDigest ?? "")
        } else if draft.isUnchanged {
            reviewed.append(key)
        } else {
            changed.keys.append(key)
            changed.data.append(content.data.text)
            changed.expiries.append(content.expiry.milliseconds)
        }
        addIndex(of: draft, content.data, key: key)
        for field in content.keptFields + content.newLinks.map(\.field) {
            linked.keys.append(key)
            linked.fields.append(field)
        }
        for link in content.newLinks {
            if let target = targets.records[link.target] {
                referred.append(key, link.field, target, author ?? owner?.userID ?? 0)
            }
            // Under new rules a text may become the name of a photo. Only one of the owner's own is shown then.
            if let photo = targets.photos[link.target], !draft.isUnchanged || photo.userID == draft.existing?.ownerID {
                pictured.append(key, link.field, photo.row, photo.userID)
            }
        }
    }

    private mutating func addGrants(of draft: RecordDraft, key: Int, owner: MemberStream?, recipient: Int?) {
        let old = draft.existing?.grants ?? [:]
        for stream in Set(old.keys).union(draft.sharing.keys).sorted() {
            let (rights, isChanged) = (draft.sharing[stream], draft.isChanged(for: stream))
            let takesNumber = GrantChange.takesNumber(from: old[stream]?.rights, to: rights, isChanged: isChanged)
            // The stream of an account that is gone went with it.
            if takesNumber, !counters.has(stream) { continue }
            let number = takesNumber ? counters.next(of: stream) : 0
            let isMember =
                draft.memberIDs[stream] != nil || draft.existing?.memberIDs[stream] != nil || stream == recipient
            if let owner, isMember, stream != owner.streamID {
                addAuthored(
                    draft,
                    AuthoredStream(stream: stream, authorID: owner.userID),
                    from: old[stream]?.rights,
                    to: rights
                )
            }
            switch GrantChange.change(from: old[stream], to: rights, isChanged: isChanged, number: { number }) {
            case .shown(let grant), .ended(let grant), .silent(let grant):
                granted.collections.append(draft.collection.id)
                granted.keys.append(key)
                granted.streams.append(stream)
                granted.rights.append(grant.rights.rawValue)
                granted.numbers.append(grant.number ?? 0)
                granted.shownNumbers.append(grant.shownNumber ?? 0)
            case .dropped:
                dropped.collections.append(draft.collection.id)
                dropped.keys.append(key)
                dropped.streams.append(stream)
            case nil: break
            }
        }
    }

    private mutating func addAuthored(_ draft: RecordDraft, _ pair: AuthoredStream, from old: Rights?, to new: Rights?)
    {
        let (read, reads) = ((old ?? []).contains(.read), (new ?? []).contains(.read))
        if read == reads { return }
        let change = reads ? 1 : -1
        authored[pair, default: Authored()].change += change
        if draft.collection.definition.access == .inbox { authored[pair, default: Authored()].inboxChange += change }
        if reads { authored[pair]?.position = draft.position }
    }

    /// Refuses records of an author of whom a member's stream shows too many.
    ///
    /// - Parameters:
    ///   - count: How many it shows now.
    ///   - inboxCount: How many of them wait in the stream's inboxes.
    ///   - pair: The stream and the author.
    /// - Throws: `RecordRefusal`.
    func check(_ count: Int, inboxCount: Int, of pair: AuthoredStream) throws(RecordRefusal) {
        guard let entry = authored[pair], entry.change > 0, quotaBytes != nil else { return }
        // What was free before the last record came.
        let free = RecordLimits.maxInboxCount - (counters.counters[pair.stream]?.inboxCount ?? 0) + 1
        if entry.inboxChange > 0, inboxCount > free { throw RecordRefusal(.inboxFull, at: entry.position) }
        if count > RecordLimits.maxCountPerReader { throw RecordRefusal(.readerFull, at: entry.position) }
    }

    private mutating func addIndex(of draft: RecordDraft, _ data: RecordData, key: Int) {
        for (stream, rights) in draft.sharing where rights.contains(.read) {
            for (field, value) in zip(draft.collection.definition.indexes, data.indexValues) {
                indexed.streams.append(stream)
                indexed.collections.append(draft.collection.id)
                indexed.fields.append(field)
                indexed.values.append(value.text)
                indexed.keys.append(key)
            }
        }
    }
}

extension RecordChanges.Referred {
    fileprivate mutating func append(_ key: Int, _ field: String, _ target: Int, _ owner: Int) {
        keys.append(key)
        fields.append(field)
        targets.append(target)
        owners.append(owner)
    }
}

extension RecordOperation.Expiry {
    /// In milliseconds since 1970; 0 for none, -1 for the present one.
    fileprivate var milliseconds: Int {
        switch self {
        case .unchanged: -1
        case .never: 0
        case .at(let time): time.milliseconds
        }
    }
}
