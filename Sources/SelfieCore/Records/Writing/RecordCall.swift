import Encodings
import OrderedCollections
import Postgres
import RecordSchema

/// A call that writes records, within one transaction.
struct RecordCall {
    let operations: [RecordOperation]
    let place: RecordPlace
    let userID: Int
    let schema: AppliedSchema
    let digests: SentDigests
    /// The bytes of data that a user's records may have.
    let quotaBytes: Int

    private var createsAny: Bool { operations.contains { [.create, .put].contains($0.action) } }

    /// Does all of it.
    ///
    /// - Parameters:
    ///   - connection: In a transaction.
    ///   - paidSends: How many sends were counted already.
    /// - Returns: The records, without those that were deleted; the streams that show a change; and whether it was all done
    ///   in the user's own inbox.
    /// - Throws: `RecordRefusal`, `UnpaidSends`, `ExpiredRecords`, `RecordBusy`, `SchemaChanged`, `SessionError.ended`,
    ///   `PostgresError`.
    func run(
        on connection: PostgresConnection,
        paidSends: Int
    ) async throws -> Result {
        let collection = try schema.collection(place.collection)
        let isInbox = collection.definition.access == .inbox
        guard place.inboxOf == nil || isInbox else { throw RecordRefusal(.noCollection) }
        let parentNames = try await ParentDrafts.names(in: operations, of: collection, schema: schema)
        let transaction = RecordTransaction(connection: connection, schema: schema)
        // Only then is the version that the next statement reads the one until the end.
        try await SchemaLock.share(on: connection)
        let heirs = operations.contains { $0.action != .delete && $0.readers == nil && $0.writers == nil }
        var named = await named(in: collection)
        if heirs, collection.definition.access == .acl, let parentNames {
            named.formUnion(try await transaction.readers(of: parentNames.ids, in: parentNames.collection))
        }
        let author = try await transaction.author(userID: userID, naming: named)
        let recipient = isInbox ? try self.recipient(author) : nil
        try Self.requireRole(of: author, in: collection)

        let recipientID = recipient?.userID ?? 0
        let names = operations.compactMap(\.id).map {
            RecordTransaction.Name(collectionID: collection.id, recipientID: recipientID, id: $0)
        }
        var parentSet = Set(
            (parentNames?.ids ?? []).map {
                RecordTransaction.Name(collectionID: parentNames?.collection.id ?? 0, recipientID: 0, id: $0)
            }
        )
        if operations.contains(where: { $0.action == .delete }), !isInbox {
            let children: PostgresQuery = """
                collection_id = \(collection.id) AND recipient_id = 0 AND id = ANY(\(operations.compactMap(\.id)))
                """

            parentSet.formUnion(try await transaction.parents(naming: children))
        }
        let locked = try await transaction.lock(
            parentSet.union(names),
            ends: operations.contains(where: \.mayEndRecord),
            by: userID
        )
        let expired = locked.filter(\.isExpired)
        guard expired.isEmpty else { throw ExpiredRecords(keys: expired.map(\.key)) }
        let parents = Dictionary(
            uniqueKeysWithValues: locked.filter { $0.collectionID == parentNames?.collection.id }.map { ($0.id, $0) }
        )
        // Somebody has become a reader meanwhile, and is not locked.
        if heirs, parentNames != nil, collection.definition.access == .acl,
            parents.values.contains(where: { !$0.readers.allSatisfy(author.knows) })
        {
            throw RecordBusy()
        }
        let own = Dictionary(
            uniqueKeysWithValues: locked.filter { record in
                names.contains { $0.collectionID == record.collectionID && $0.id == record.id }
            }.map { ($0.id, $0) }
        )
        let planner = RecordPlanner(
            collection: collection,
            author: author,
            recipient: recipient,
            existing: own,
            deletedMessages: isInbox && recipientID != userID
                ? try await transaction.deletedMessages(
                    operations.compactMap(\.id).filter { own[$0]?.ownerID != userID },
                    in: collection,
                    of: recipientID,
                    askedBy: userID
                ) : [:],
            parentCollection: parentNames?.collection,
            parents: parents,
            setFields: schema.schema.setFields(of: collection.name),
            digests: digests
        )
        try requireReachable(author, planner)
        var outcomes: [RecordPlanner.Outcome] = []
        for (position, operation) in operations.enumerated() {
            // Reading and checking the data takes time. Others have their turns on the thread in between.
            if position > 0 { await Task.yield() }
            outcomes.append(try planner.outcome(of: operation, at: position))
        }
        var drafts = outcomes.compactMap { if case .draft(let draft) = $0 { draft } else { nil } }
        if parentNames != nil {
            drafts += try ParentDrafts(schema: schema, author: author, parents: parents).drafts(
                of: drafts,
                in: collection
            )
        }
        drafts += ParentDrafts.clearing(
            drafts,
            in: locked.filter { parentSet.contains($0.name) },
            schema: schema
        )
        for position in drafts.indices { drafts[position].authorIDs = [userID] }
        try Self.requirePaid(drafts, by: author, paidSends: paidSends)
        try await requireUnreferred(drafts, transaction)
        let isOwnInbox = isInbox && recipientID == userID
        guard !drafts.isEmpty else { return Result(records: Self.answers(outcomes, [:]), isOwnInbox: isOwnInbox) }
        let targets = try await transaction.targets(of: drafts, author: author)
        let written = try await transaction.apply(
            drafts,
            targets: targets,
            author: author,
            recipient: recipient,
            quotaBytes: quotaBytes
        )
        let hasPhotos = drafts.contains { $0.content != nil && !$0.collection.definition.photoFields.isEmpty }
        let photos = hasPhotos ? try await transaction.photos(of: written.map(\.key)) : [:]
        let stored = zip(drafts, written).compactMap { draft, row in
            draft.position.flatMap { position in
                draft.stored(by: author, version: row.version, photos: draft.isSentNow ? [] : photos[row.key] ?? []).map
                { (position, $0) }
            }
        }
        let streams = drafts.reduce(into: Set<Int>()) { $0.formUnion($1.numberedStreams) }
        return Result(
            records: Self.answers(outcomes, Dictionary(uniqueKeysWithValues: stored)),
            streams: streams,
            isOwnInbox: isOwnInbox
        )
    }

    /// What a call has done.
    struct Result {
        /// Without those that were deleted.
        let records: [StoredRecord]
        /// The streams that show a change.
        var streams: Set<Int> = []
        /// Whether it was all done in the user's own inbox.
        let isOwnInbox: Bool
    }

    private static func answers(_ outcomes: [RecordPlanner.Outcome], _ stored: [Int: StoredRecord]) -> [StoredRecord] {
        outcomes.enumerated().compactMap { position, outcome in
            switch outcome {
            case .draft: stored[position]
            case .sentBefore(let record): record
            case .deletedBefore: nil
            }
        }
    }

    /// The members whom the call names anywhere.
    private func named(in collection: AppliedCollection) async -> Set<String> {
        let fields = (collection.definition.fields ?? []).filter { $0.type == .member }.map(\.name)
        var named = operations.reduce(into: Set<String>()) { $0.formUnion($1.named) }
        if let id = place.inboxOf, RecordID.isValid(id) { named.insert(id) }
        if !fields.isEmpty {
            for operation in operations {
                await Task.yield()
                guard let data = operation.data, case .object(let members) = RecordPlanner.object(data) else {
                    continue
                }
                for field in fields {
                    // Looked at before it is hashed: PostgreSQL can't hold NUL, and marks are slow.
                    if case .string(let id)? = members[field], RecordID.isValid(id) { named.insert(id) }
                }
            }
        }
        return named
    }

    private func recipient(_ author: RecordAuthor) throws(RecordRefusal) -> MemberStream {
        guard let id = place.inboxOf else { return author.member }
        guard let member = author.named[id] ?? author.disabled[id] else { throw RecordRefusal(.noMember) }
        return member
    }

    /// Nothing new can be sent to who has blocked the author or is disabled.
    ///
    /// What was sent before is answered as before, and can be taken back: a block tells nothing.
    private func requireReachable(_ author: RecordAuthor, _ planner: RecordPlanner) throws(RecordRefusal) {
        guard let id = place.inboxOf, id != author.member.id, author.reader(id) == nil else { return }
        let sendsAny = operations.contains { operation in
            [.create, .put].contains(operation.action) && operation.id.flatMap(planner.sentRecord) == nil
        }
        if sendsAny { throw RecordRefusal(.noMember) }
    }

    /// A collection of a role does not exist for others, not even for who has left the role and owns records in it.
    private static func requireRole(
        of author: RecordAuthor,
        in collection: AppliedCollection
    ) throws(RecordRefusal) {
        guard collection.definition.access == .shared else { return }
        let isMember = collection.role.map { author.roleIDs.contains($0.id) } ?? false
        let manages = collection.managers.contains { author.roleIDs.contains($0.id) }
        guard isMember || manages else { throw RecordRefusal(.noCollection) }
    }

    /// Members who are newly named count as those who get something in their inboxes.
    private static func requirePaid(_ drafts: [RecordDraft], by author: RecordAuthor, paidSends: Int) throws {
        let sends = drafts.reduce(0) { sum, draft in
            guard draft.collection.definition.access == .acl, draft.position != nil else { return sum }
            let old = draft.existing?.sharing ?? [:]
            return sum + draft.sharing.keys.count { old[$0] == nil && $0 != author.member.streamID }
        }
        if sends > paidSends { throw UnpaidSends(count: sends - paidSends) }
    }

    private func requireUnreferred(_ drafts: [RecordDraft], _ transaction: RecordTransaction) async throws {
        let ending = drafts.filter(\.endsExisting)
        if ending.isEmpty { return }
        let going = ending.filter { $0.content == nil }.compactMap(\.existing?.key)
        guard let key = try await transaction.referredTo(ending.compactMap(\.existing?.key), besidesBy: going) else {
            return
        }
        throw RecordRefusal(.referredTo, at: ending.first { $0.existing?.key == key }?.position)
    }
}

extension RecordDraft {
    /// The record as its author gets it; nil for one that the author has deleted or left.
    fileprivate func stored(by author: RecordAuthor, version: Int, photos: [StoredRecord.PhotoField]) -> StoredRecord? {
        guard let content, informedStreams == nil else { return nil }
        let owner = existing?.owner ?? author.member
        let mayShare = sharing[author.member.streamID]?.contains(.share) ?? false
        func members(with right: Rights) -> [String]? {
            guard mayShare else { return nil }
            return sharing.filter { $0.key != owner.streamID && $0.value.contains(right) }
                .compactMap { memberIDs[$0.key] }.sorted()
        }
        let expiresAt: String? =
            switch content.expiry {
            case .unchanged: existing?.expiresAt
            case .never: nil
            case .at(let time): time.text
            }
        return StoredRecord(
            id: id,
            collection: collection.name,
            data: content.data.text,
            owner: owner.id,
            readers: members(with: .read),
            writers: members(with: .write),
            version: version,
            createdAt: existing?.createdAt ?? author.now,
            updatedAt: author.now,
            expiresAt: expiresAt,
            photos: photos
        )
    }
}
