import Encodings
import JSON
import OrderedCollections
import RecordSchema
import SelfieRecords

/// A collection as a table of DreamFactory: each record is one flat object with its id.
///
/// Ids that are whole numbers are numbers there. Clients may send numbers and flags as texts, and the other way round, as to SQL.
struct DreamFactoryTable: Sendable {
    let schema: Schema
    let collection: RecordCollection

    /// The name of the field that is a record's id.
    static let id = "id"

    /// The table of another collection.
    func of(_ name: String) -> DreamFactoryTable {
        DreamFactoryTable(schema: schema, collection: schema.collection(name) ?? collection)
    }

    // MARK: To clients

    /// A record's id.
    func shownID(_ id: String) -> JSONValue { Self.id(id, in: collection) }

    private static func id(_ id: String, in collection: RecordCollection?) -> JSONValue {
        // Some may be older than that.
        collection?.hasIntegerIDs == true && RecordID.isInteger(id) ? .number(id) : .string(id)
    }

    /// A record, with all fields of the collection.
    ///
    /// - Parameter record: The record, of this collection.
    /// - Returns: Its fields, `null` for those that it lacks.
    func row(_ record: StoredRecord) -> OrderedDictionary<String, JSONValue> {
        var row: OrderedDictionary<String, JSONValue> = [Self.id: shownID(record.id)]
        for field in collection.fields ?? [] { row[field.name] = .null }
        guard case .object(let members) = RecordData.value(stored: record.data) else { return row }
        for (name, value) in members where name != Self.id { row[name] = shown(value, of: name) }
        return row
    }

    private func shown(_ value: JSONValue, of field: String) -> JSONValue {
        guard case .reference(let name)? = collection.field(field)?.type.element else { return value }
        let target = schema.collection(name)
        return switch value {
        case .string(let id): Self.id(id, in: target)
        case .array(let ids): .array(ids.map { if case .string(let id) = $0 { Self.id(id, in: target) } else { $0 } })
        default: value
        }
    }

    // MARK: From clients

    /// An id, as records have it; nil for a value that is none.
    static func id(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): RecordID.isValid(text) ? text : nil
        default: nil
        }
    }

    /// A value as records have it, or else the value itself, which the collection's rules refuse then.
    func stored(_ value: JSONValue, of field: String) -> JSONValue {
        guard let type = collection.type(ofIndex: field) ?? collection.field(field)?.type else { return value }
        if case .array(let values) = value { return .array(values.map { Self.stored($0, as: type.element) }) }
        return Self.stored(value, as: type)
    }

    private static func stored(_ value: JSONValue, as type: FieldType) -> JSONValue {
        switch (type, value) {
        case (.string, .number(let digits)), (.member, .number(let digits)), (.reference, .number(let digits)):
            .string(digits)
        case (.integer, .string(let text)): Int(text).map { .number(String($0)) } ?? value
        case (.number, .string(let text)):
            if case .number(let digits)? = try? JSONValue.parse(text.utf8) { .number(digits) } else { value }
        case (.boolean, .number("1")), (.boolean, .string("1")), (.boolean, .string("true")): true
        case (.boolean, .number("0")), (.boolean, .string("0")), (.boolean, .string("false")): false
        default: value
        }
    }

    /// The operation on a record that a client has sent.
    ///
    /// - Parameters:
    ///   - action: What to do.
    ///   - row: The record's fields, perhaps with its id.
    ///   - id: The id that the call names elsewhere; nil for none.
    ///   - condition: What must be true of the record before.
    /// - Returns: The operation.
    /// - Throws: `RecordBodyError`, `RecordRefusal`.
    func operation(
        _ action: RecordOperation.Action,
        _ row: OrderedDictionary<String, JSONValue>,
        id: String? = nil,
        condition: RecordOperation.Condition = .none
    ) throws -> RecordOperation {
        var row = row
        let sent = row.removeValue(forKey: Self.id) ?? .null
        let ownID = try sent == .null ? nil : Self.required(Self.id(sent))
        var data: OrderedDictionary<String, JSONValue> = [:]
        for (name, value) in row { data[name] = stored(value, of: name) }
        var body: OrderedDictionary<String, JSONValue> = ["data": .object(data)]
        if let ownID { body["id"] = .string(ownID) }
        return try RecordOperation(action, .object(body), id: id, condition: condition)
    }

    private static func required(_ id: String?) throws(RecordRefusal) -> String {
        guard let id else { throw RecordRefusal(.invalidID) }
        return id
    }
}

/// What a table's records refer to, or what refers to them, under the name that DreamFactory gives it.
///
/// Source: DreamFactory, "SQL Related Data".
struct DreamFactoryRelation: Sendable, Equatable {
    /// The name under which the client asked for it.
    let name: String
    let kind: Kind

    /// Whether each record may have many of them.
    var isMany: Bool { if case .hasMany = kind { true } else { false } }

    enum Kind: Sendable, Equatable {
        /// The record that a field of the table refers to.
        case belongsTo(field: String)
        /// The records of another collection whose field refers to the table's records.
        case hasMany(collection: String, field: String)
    }
}

extension DreamFactoryTable {
    /// The relation of a name: `priority_by_priority` for a field, `comments_by_bug` for records that refer to these.
    ///
    /// - Parameter name: The target's name, in the singular or the plural, `_by_`, and the field's name.
    /// - Returns: The relation; nil when there is none.
    func relation(_ name: String) -> DreamFactoryRelation? {
        for (field, target) in references(of: collection)
        where Self.singulars(of: target).contains(where: { $0 == prefix(name, field) }) {
            return DreamFactoryRelation(name: name, kind: .belongsTo(field: field))
        }
        for other in schema.collections {
            for (field, target) in references(of: other)
            where target == collection.name && prefix(name, field) == other.name[...] {
                return DreamFactoryRelation(name: name, kind: .hasMany(collection: other.name, field: field))
            }
        }
        for (field, target) in references(of: collection) where prefix(name, field) == target[...] {
            return DreamFactoryRelation(name: name, kind: .belongsTo(field: field))
        }
        return nil
    }

    /// All relations, as `*` asks for: those of the table's fields, and those of other collections that have an index.
    var allRelations: [DreamFactoryRelation] {
        let own = references(of: collection).map { field, target in
            let name = Self.singulars(of: target).first.map { String($0) } ?? target
            return DreamFactoryRelation(name: "\(name)_by_\(field)", kind: .belongsTo(field: field))
        }
        let others = schema.collections.flatMap { other in
            references(of: other).filter { $0.target == collection.name && other.indexes.contains($0.field) }.map {
                DreamFactoryRelation(
                    name: "\(other.name)_by_\($0.field)",
                    kind: .hasMany(collection: other.name, field: $0.field)
                )
            }
        }
        return own + others
    }

    /// The fields of a collection that refer to one record each.
    private func references(of collection: RecordCollection) -> [(field: String, target: String)] {
        (collection.fields ?? []).compactMap { field in
            if case .reference(let target) = field.type { (field.name, target) } else { nil }
        }
    }

    private func prefix(_ name: String, _ field: String) -> Substring? {
        let suffix = "_by_\(field)"
        return name.hasSuffix(suffix) ? name.dropLast(suffix.count) : nil
    }

    /// What the singular of a name may be, the likeliest first.
    private static func singulars(of name: String) -> [Substring] {
        guard name.hasSuffix("s") else { return [name[...]] }
        if name.hasSuffix("ies") { return [name.dropLast(3) + "y", name.dropLast()] }
        let long = ["sses", "shes", "ches", "xes", "zes", "tuses", "ruses"].contains { name.hasSuffix($0) }
        return long ? [name.dropLast(2), name.dropLast()] : [name.dropLast(), name.dropLast(2)]
    }
}
