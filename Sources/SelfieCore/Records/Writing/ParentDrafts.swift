import Encodings
import OrderedCollections
import RecordSchema

/// The parents of new records, which tell of them.
struct ParentDrafts {
    let schema: AppliedSchema
    let author: RecordAuthor
    /// The parents that are there, by their ids.
    let parents: [String: ExistingRecord]

    /// The collection and the ids of the parents that operations may name.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - collection: Their collection.
    ///   - schema: The schema.
    /// - Returns: Nil for a collection without parents, or when nobody is named.
    /// - Throws: `RecordRefusal` for a parent's collection that is not there.
    static func names(
        in operations: [RecordOperation],
        of collection: AppliedCollection,
        schema: AppliedSchema
    ) async throws(RecordRefusal) -> (collection: AppliedCollection, ids: Set<String>)? {
        guard let parent = collection.definition.parent,
            let target = collection.definition.references.first(where: { $0.field == parent.field })?.collection
        else { return nil }
        var ids: Set<String> = []
        for operation in operations where [.create, .put].contains(operation.action) {
            await Task.yield()
            guard let data = operation.data, case .object(let members) = RecordPlanner.object(data),
                case .string(let id)? = members[parent.field], RecordID.isValid(id)
            else { continue }
            ids.insert(id)
        }
        return ids.isEmpty ? nil : (try schema.collection(target), ids)
    }

    /// The parents that name records as their last ones which are deleted now: they name none any more.
    ///
    /// - Parameters:
    ///   - drafts: The drafts of what goes.
    ///   - parents: Records that may name them, locked.
    ///   - schema: The schema.
    /// - Returns: The drafts of those that do, and that stay. They change by the doing of the owners of what goes.
    static func clearing(
        _ drafts: [RecordDraft],
        in parents: [ExistingRecord],
        schema: AppliedSchema
    ) -> [RecordDraft] {
        let going = drafts.filter { $0.content == nil }
        let goingKeys = Set(going.compactMap(\.existing?.key))
        return parents.filter { !goingKeys.contains($0.key) }.compactMap { record in
            guard let collection = schema.collection(id: record.collectionID) else { return nil }
            let old = RecordPlanner.stored(record.data)
            guard case .object(var members) = old else { return nil }
            var authorIDs: Set<Int> = []
            for rule in schema.parentRules where rule.parent.id == collection.id {
                guard case .string(let id)? = members[rule.field],
                    let last = going.first(where: { $0.collection.id == rule.child.id && $0.id == id })
                else { continue }
                members[rule.field] = .null
                if let ownerID = last.existing?.ownerID { authorIDs.insert(ownerID) }
            }
            let new = JSONValue.object(members)
            if new == old { return nil }
            var draft = draft(of: record, in: collection, changing: old, to: new)
            draft.authorIDs = authorIDs
            return draft
        }
    }

    private static func draft(
        of record: ExistingRecord,
        in collection: AppliedCollection,
        changing old: JSONValue,
        to new: JSONValue
    ) -> RecordDraft {
        // Its other fields may break rules that came later. That is no matter of this call.
        let data = RecordData(stored: new.text, new, in: collection.definition)
        return RecordDraft(
            position: nil,
            collection: collection,
            existing: record,
            id: record.id,
            content: RecordDraft.Content(data, new, changing: old, expiry: .unchanged),
            sharing: record.sharing,
            memberIDs: record.memberIDs
        )
    }

    /// The parents as they are to be, each with the last of its new records.
    ///
    /// A parent that the author may not write stays as it is.
    ///
    /// - Parameters:
    ///   - drafts: The drafts of the call.
    ///   - collection: Their collection.
    /// - Returns: The drafts of the parents.
    /// - Throws: `RecordRefusal` when a parent has no room for the id.
    func drafts(
        of drafts: [RecordDraft],
        in collection: AppliedCollection
    ) throws(RecordRefusal) -> [RecordDraft] {
        guard let parent = collection.definition.parent else { return [] }
        var newest: OrderedDictionary<String, RecordDraft> = [:]
        for draft in drafts where draft.existing == nil {
            guard let content = draft.content,
                let link = content.data.links.first(where: { $0.field == parent.field }),
                case .record(let id, _) = link.target
            else { continue }
            newest[id] = draft
        }
        var parentDrafts: [RecordDraft] = []
        for (id, draft) in newest {
            guard let record = parents[id], let target = schema.collection(id: record.collectionID),
                record.rights(of: author.streams(in: target)).contains(.write)
            else { continue }
            let old = RecordPlanner.stored(record.data)
            let new = old.with([parent.set: .string(draft.id)])
            guard new.text.utf8.count <= RecordLimits.maxBytes else {
                throw RecordRefusal(.invalid([RecordValidationError(parent.field, .parentFull)]), at: draft.position)
            }
            parentDrafts.append(Self.draft(of: record, in: target, changing: old, to: new))
        }
        return parentDrafts
    }
}
