import RecordSchema

/// The author of a call, and the members that it names.
struct RecordAuthor: Sendable {
    let member: MemberStream
    /// The roles that the user has, without those that are disabled.
    let roleIDs: Set<Int>
    /// The existing members that the call names, by their ids, and the author.
    let named: [String: Named]
    /// The ids of these members, by their streams.
    let memberIDs: [Int: String]
    /// The time of the transaction.
    let now: Timestamp

    init(member: MemberStream, roleIDs: Set<Int>, naming named: [Named], now: Timestamp) {
        self.member = member
        self.roleIDs = roleIDs
        self.named = Dictionary(uniqueKeysWithValues: named.map { ($0.member.id, $0) })
        memberIDs = Dictionary(uniqueKeysWithValues: named.map { ($0.member.streamID, $0.member.id) })
        self.now = now
    }

    /// A member that the call names.
    struct Named: Sendable {
        let member: MemberStream
        var isDisabled = false
        /// Whether this member has blocked the author.
        var isBlocking = false
    }

    /// The streams by which the user reaches the records of a collection.
    func streams(in collection: AppliedCollection) -> Set<Int> {
        let roles = roles(in: collection)
        var streams = Set(roles.map(\.streamID)).union([collection.streamID])
        // A former member of the role has no rights as an owner either.
        if collection.definition.access != .shared || !roles.isEmpty { streams.insert(member.streamID) }
        if onlyReads(collection) { streams.formUnion([collection.readers].compactMap { $0?.streamID }) }
        return streams
    }

    /// Whether the user has the role that only reads a collection.
    func onlyReads(_ collection: AppliedCollection) -> Bool {
        collection.readers.map { roleIDs.contains($0.id) } ?? false
    }

    /// Requires that a collection exists for the user.
    ///
    /// A collection of a role does not exist for others. That includes former members of the role who own records in
    /// it.
    func requireRole(in collection: AppliedCollection) throws(RecordRefusal) {
        guard collection.definition.access == .shared else { return }
        if roles(in: collection).isEmpty, !onlyReads(collection) { throw RecordRefusal(.noCollection) }
    }

    /// The roles that the user has, of those that may change records of a collection.
    private func roles(in collection: AppliedCollection) -> [AppliedRole] {
        ([collection.role].compactMap(\.self) + collection.managers).filter { roleIDs.contains($0.id) }
    }

    /// A member who may be named as a reader; nil for one who does not exist, is disabled or has blocked the author.
    func reader(_ id: String) -> MemberStream? {
        named[id].flatMap { $0.isDisabled || $0.isBlocking ? nil : $0.member }
    }

    /// A present reader of a record, who may have blocked the author or be disabled; nil for other members.
    func presentReader(_ id: String, of record: ExistingRecord) -> MemberStream? {
        named[id].flatMap { named in
            record.grants[named.member.streamID]?.rights.contains(.read) == true ? named.member : nil
        }
    }
}

/// A member with its stream.
struct MemberStream: Sendable, Equatable {
    let userID: Int
    /// The id that others see.
    let id: String
    let streamID: Int
}
