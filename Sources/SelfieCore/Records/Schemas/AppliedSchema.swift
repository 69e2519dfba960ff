package import RecordSchema

/// The schema that is applied to the database, with the ids of its parts.
package struct AppliedSchema: Sendable {
    /// Grows with each change; 0 before the first.
    package let version: Int
    package let schema: Schema
    private let collections: [String: AppliedCollection]

    init(version: Int, schema: Schema, collectionIDs: [String: PartID], roleIDs: [String: PartID]) {
        self.version = version
        self.schema = schema
        func role(_ name: String) -> AppliedRole? {
            roleIDs[name].map { AppliedRole(id: $0.id, streamID: $0.streamID) }
        }
        collections = schema.collections.reduce(into: [:]) { collections, definition in
            guard let part = collectionIDs[definition.name] else { return }
            collections[definition.name] = AppliedCollection(
                id: part.id,
                definition: definition,
                streamID: part.streamID,
                role: definition.role.flatMap(role),
                managers: definition.role.map { schema.managers(of: $0).compactMap(role) } ?? []
            )
        }
    }

    /// The collection of a name.
    ///
    /// - Throws: `RecordRefusal` when there is none.
    func collection(_ name: String) throws(RecordRefusal) -> AppliedCollection {
        guard let collection = collections[name] else { throw RecordRefusal(.noCollection) }
        return collection
    }

    /// All collections, in no order.
    var allCollections: [AppliedCollection] { Array(collections.values) }

    /// The collection of an id; nil when there is none.
    func collection(id: Int) -> AppliedCollection? {
        collections.values.first { $0.id == id }
    }

    /// A collection or a role in the database.
    struct PartID: Sendable {
        let id: Int
        /// Its stream.
        let streamID: Int
    }
}

/// A collection that is in the database.
struct AppliedCollection: Sendable {
    let id: Int
    let definition: RecordCollection
    /// The stream of what all members read.
    let streamID: Int
    /// The role whose members share the records; nil if `access` is not `shared`.
    let role: AppliedRole?
    /// The roles that manage this role.
    let managers: [AppliedRole]

    var name: String { definition.name }
}

/// A role that is in the database.
struct AppliedRole: Sendable {
    let id: Int
    let streamID: Int
}
