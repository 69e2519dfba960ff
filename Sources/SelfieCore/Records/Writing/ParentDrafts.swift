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
    ) throws(RecordRefusal) -> (collection: AppliedCollection, ids: Set<String>)? {
        guard let parent = collection.definition.parent,
            let target = collection.definition.references.first(where: { $0.field == parent.field })?.collection
        else { return nil }
        let ids = operations.compactMap { operation -> String? in
            guard [.create, .put].contains(operation.action), let data = operation.data,
                case .object(let members) = RecordPlanner.object(data),
                case .string(let id)? = members[parent.field]
            else { return nil }
            return RecordID.isValid(id) ? id : nil
        }
        return ids.isEmpty ? nil : (try schema.collection(target), Set(ids))
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
            // Its other fields may break rules that came later. That is no matter of the new record.
            let data = RecordData(stored: new.text, new, in: target.definition)
            guard data.text.utf8.count <= RecordLimits.maxBytes else {
                throw RecordRefusal(.invalid([RecordProblem(parent.field, .parentFull)]), at: draft.position)
            }
            parentDrafts.append(
                RecordDraft(
                    position: nil,
                    collection: target,
                    existing: record,
                    id: id,
                    content: RecordDraft.Content(data, new, changing: old, expiry: .unchanged),
                    sharing: record.sharing,
                    memberIDs: record.memberIDs
                )
            )
        }
        return parentDrafts
    }
}
