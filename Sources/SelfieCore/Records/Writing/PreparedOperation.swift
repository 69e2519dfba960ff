import JSON
import OrderedCollections
import RecordSchema

/// An operation whose data was parsed and checked by a schema, before anything of the database was read.
@dynamicMemberLookup
struct PreparedOperation {
    /// Its position in the call.
    let position: Int
    private let operation: RecordOperation
    /// The record's id, which may be a new one.
    let id: String
    /// The data of a new record, or of one that is replaced; nil for other operations.
    let content: Result<RecordData, RecordRefusal>?
    /// The record that a new one belongs to; nil for none.
    let parent: RecordName?
    /// Whether a new record would get the readers of that one, since nobody is named.
    let inherits: Bool
    /// As ``SentDigests`` makes it; nil for what is not sent to an inbox.
    let sentDigest: String?

    init(
        _ operation: RecordOperation,
        at position: Int,
        in collection: AppliedCollection,
        _ schema: AppliedSchema,
        digest: ((JSONValue, String) -> String)? = nil
    ) {
        self.operation = operation
        self.position = position
        id = operation.id ?? RecordID.make()
        guard operation.action == .create || operation.action == .put else {
            (content, parent, inherits, sentDigest) = (nil, nil, false, nil)
            return
        }
        let sent = Self.value(operation.data)
        var value = sent
        let setFields = schema.schema.setFields(of: collection.name)
        if case .object(var members) = value, !setFields.isEmpty {
            for name in setFields { members[name] = nil }
            value = .object(members)
        }
        let content = RecordData.checked(value, in: collection)
        self.content = content
        parent = (try? content.get()).flatMap { schema.parentRule(of: collection)?.parent(of: $0) }
        inherits = parent != nil && collection.definition.access == .acl && !operation.namesMembers
        sentDigest = digest?(sent, id)
    }

    subscript<Value>(dynamicMember member: KeyPath<RecordOperation, Value>) -> Value { operation[keyPath: member] }

    /// Whether a client has chosen the id.
    var namesRecord: Bool { operation.id != nil }

    /// Data after the operation.
    func changed(_ old: JSONValue) -> JSONValue {
        guard let data = operation.data else { return old }
        return operation.action == .patch ? old.merged(with: Self.value(data)) : Self.value(data)
    }

    private static func value(_ data: String?) -> JSONValue {
        (try? JSONValue.parse((data ?? "{}").utf8)) ?? .null
    }
}

extension RecordData {
    /// Checks data by the rules of a collection.
    static func checked(_ value: JSONValue, in collection: AppliedCollection) -> Result<RecordData, RecordRefusal> {
        do throws(InvalidRecord) {
            return .success(try RecordData(value, in: collection.definition))
        } catch {
            return .failure(RecordRefusal(.invalid(error.errors)))
        }
    }
}
