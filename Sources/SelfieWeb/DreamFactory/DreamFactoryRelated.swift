import JSON
import OrderedCollections
import RecordSchema
import SelfieRecords

/// The records that are shown with those of a list.
struct DreamFactoryRelated {
    let relations: [DreamFactoryRelation]
    private var targets: [Name: StoredRecord] = [:]
    private var many: [String: [String: [StoredRecord]]] = [:]
    private var room = (count: Self.maxManyCount, bytes: RecordQuery.maxPageBytes)

    /// The most records of other collections.
    private static let maxManyCount = 1_000
    /// The most relations of each kind.
    private static let maxRelationCount = RecordQuery.maxIncludeCount

    private struct Name: Hashable {
        let collection: String
        let id: String
    }

    /// - Throws: `ServiceError` for too many relations.
    init(_ relations: [DreamFactoryRelation]) throws(ServiceError) {
        self.relations = relations
        guard included.count <= Self.maxRelationCount, relations.count(where: \.isMany) <= Self.maxRelationCount else {
            throw Endpoint.Parameter.related.invalid.saying(
                "related - asks for more than \(Self.maxRelationCount) relations of its own fields, or of other collections,"
            )
        }
    }

    /// The fields whose targets are wanted.
    var included: [String] {
        Array(OrderedSet(relations.compactMap { if case .belongsTo(let field) = $0.kind { field } else { nil } }))
    }

    /// Whether each record may have many related ones.
    var hasMany: Bool { relations.contains(where: \.isMany) }

    /// Adds records that fields refer to.
    mutating func add(_ included: [StoredRecord]) {
        for record in included { targets[Name(collection: record.collection, id: record.id)] = record }
    }

    /// Adds records that refer to those of the list by a field.
    ///
    /// - Throws: `ServiceError` when there is no room for them.
    mutating func add(
        _ records: [StoredRecord],
        of relation: DreamFactoryRelation,
        by field: String
    ) throws(ServiceError) {
        for record in records {
            guard case .object(let members) = RecordData.value(stored: record.data),
                case .string(let id)? = members[field]
            else { continue }
            many[relation.name, default: [:]][id, default: []].append(record)
            room = (room.count - 1, room.bytes - record.data.utf8.count)
        }
        guard room.count >= 0, room.bytes >= 0 else {
            throw Endpoint.Parameter.related.invalid.saying(
                "related - more than \(Self.maxManyCount) records, or more than 1 MiB of them: ask for fewer records,"
            )
        }
    }

    /// Writes a record as the client gets it.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - fields: Its fields that are wanted.
    ///   - table: Its table.
    ///   - json: Gets the record.
    func write(
        _ record: StoredRecord,
        _ fields: DreamFactoryCall.Fields,
        of table: DreamFactoryTable,
        to json: inout JSONWriter
    ) {
        let whole = table.row(record)
        json.object { json in
            for (name, value) in fields.of(whole) { json.nested(named: name) { $0.write(value) } }
            for relation in relations {
                json.nested(named: relation.name) { json in
                    switch relation.kind {
                    case .belongsTo(let field):
                        if let target = target(of: whole[field], field, table) {
                            json.write(.object(table.of(target.collection).row(target)))
                        } else {
                            json.write(.null)
                        }
                    case .hasMany(let collection, _):
                        let own = table.of(collection)
                        json.array(many[relation.name]?[record.id] ?? []) { $0.write(.object(own.row($1))) }
                    }
                }
            }
        }
    }

    private func target(of value: JSONValue?, _ field: String, _ table: DreamFactoryTable) -> StoredRecord? {
        guard let id = value.flatMap(DreamFactoryTable.id),
            case .reference(let name)? = table.collection.field(field)?.type
        else { return nil }
        return targets[Name(collection: name, id: id)]
    }
}
