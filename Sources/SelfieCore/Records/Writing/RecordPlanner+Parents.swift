import Encodings
import OrderedCollections
import RecordSchema

/// What records owe to those that they belong to.
extension RecordPlanner {
    /// The data of a new record, without fields that only new records of other collections set.
    func withoutSetFields(_ value: JSONValue) -> JSONValue {
        guard case .object(var members) = value else { return value }
        for name in setFields { members.removeValue(forKey: name) }
        return .object(members)
    }

    /// Changed data, in which such fields are as they were.
    func keepingSetFields(_ value: JSONValue, of old: JSONValue) -> JSONValue {
        guard case .object(var members) = value, case .object(let oldMembers) = old else { return value }
        for name in setFields {
            if let present = oldMembers[name] { members[name] = present } else { members.removeValue(forKey: name) }
        }
        return .object(members)
    }

    /// Whoever reads the record that a new one belongs to, when the operation names nobody.
    ///
    /// Members who can't be named are left out: those who have blocked the author, and those who are disabled.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - data: The new record's data.
    /// - Returns: The members; nil when the operation says who reads, or the author may not write the other record.
    func inheritedMembers(_ operation: RecordOperation, _ data: RecordData) -> Named? {
        guard collection.definition.access == .acl, operation.readers == nil, operation.writers == nil,
            let field = collection.definition.parent?.field,
            let link = data.links.first(where: { $0.field == field }), case .record(let id, let name) = link.target,
            let parent = parents[id], name == parentCollection?.name,
            parent.rights(of: author.streams(in: parentCollection ?? collection)).contains(.write)
        else { return nil }
        return (parent.readers.filter { $0 != author.member.id }.compactMap(author.reader), [])
    }
}
