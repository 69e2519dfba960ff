import JSON
import OrderedCollections
import RecordSchema

/// The parents of records, by the `parent` of their collection.
extension RecordPlanner {
    /// What a call changes in parents.
    ///
    /// A parent gets the id of the last of its new records, and loses that of a deleted one. A parent that the author
    /// may not write gets no id.
    func parents(of drafts: [RecordDraft]) throws(RecordRefusal) -> [RecordDraft] {
        let deleted = drafts.filter { $0.content == nil }
        var changed = Self.clearing(deleted, in: Array(snapshot.records.values), schema, by: [author.member.userID])
        guard let rule = schema.parentRule(of: collection) else { return changed }
        var newest: OrderedDictionary<RecordName, RecordDraft> = [:]
        for draft in drafts where draft.existing == nil {
            if let name = draft.content.flatMap({ rule.parent(of: $0.data) }) { newest[name] = draft }
        }
        for (name, draft) in newest {
            guard let record = snapshot.records[name],
                record.rights(of: author.streams(in: rule.parent)).contains(.write)
            else {
                continue
            }
            let value = RecordData.value(stored: record.data)
            let new = value.with([rule.field: .string(draft.name.id)])
            guard new.text.utf8.count <= RecordLimits.maxBytes else {
                throw RecordRefusal(.invalid([RecordValidationError(rule.reference, .parentFull)]), at: draft.position)
            }
            changed.append(Self.parent(record, in: rule.parent, changing: value, to: new, by: [author.member.userID]))
        }
        return changed
    }

    /// The parents whose last new record is deleted now: their field becomes `null`.
    ///
    /// Their change's authors are the given ones, or else the owners of the deleted records.
    static func clearing(
        _ deleted: [RecordDraft],
        in records: [ExistingRecord],
        _ schema: AppliedSchema,
        by authorIDs: Set<Int>? = nil
    ) -> [RecordDraft] {
        let last = Dictionary(uniqueKeysWithValues: deleted.map { ($0.name, $0) })
        return records.filter { last[$0.name] == nil }.compactMap { record in
            let rules = schema.parentRules.filter { $0.parent.id == record.name.collectionID }
            guard let collection = rules.first?.parent, !deleted.isEmpty else { return nil }
            let value = RecordData.value(stored: record.data)
            guard case .object(var members) = value else { return nil }
            var ownerIDs: Set<Int> = []
            for rule in rules {
                guard case .string(let id)? = members[rule.field],
                    let draft = last[RecordName(collectionID: rule.child.id, id: id)]
                else { continue }
                members[rule.field] = .null
                ownerIDs.insert(draft.owner.userID)
            }
            if ownerIDs.isEmpty { return nil }
            return parent(record, in: collection, changing: value, to: .object(members), by: authorIDs ?? ownerIDs)
        }
    }

    private static func parent(
        _ record: ExistingRecord,
        in collection: AppliedCollection,
        changing old: JSONValue,
        to new: JSONValue,
        by authorIDs: Set<Int>
    ) -> RecordDraft {
        // Its other fields may break newer rules. This call does not check them.
        let content = RecordDraft.Content(
            RecordData(stored: new.text, new, in: collection.definition),
            changing: RecordData(stored: record.data, old, in: collection.definition),
            expiresAt: record.expiresAt
        )
        return RecordDraft(of: record, in: collection, content, by: authorIDs)
    }
}
