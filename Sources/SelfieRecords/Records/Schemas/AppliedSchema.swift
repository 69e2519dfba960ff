package import RecordSchema

/// The schema that is applied to the database, with the ids of its parts.
package struct AppliedSchema: Sendable {
    /// Grows with each change; 0 before the first.
    package let version: Int
    package let schema: Schema
    private let collections: [String: AppliedCollection]
    let parentRules: [ParentRule]

    init(version: Int, schema: Schema, collectionIDs: [String: PartID], roleIDs: [String: PartID]) {
        self.version = version
        self.schema = schema
        func role(_ name: String) -> AppliedRole? {
            roleIDs[name].map { AppliedRole(id: $0.id, streamID: $0.streamID) }
        }
        let collections = schema.collections.reduce(into: [String: AppliedCollection]()) { collections, definition in
            guard let part = collectionIDs[definition.name] else { return }
            collections[definition.name] = AppliedCollection(
                id: part.id,
                definition: definition,
                streamID: part.streamID,
                role: definition.role.flatMap(role),
                readers: definition.readers.flatMap(role),
                managers: definition.role.map { schema.managers(of: $0).compactMap(role) } ?? []
            )
        }
        self.collections = collections
        parentRules = collections.values.compactMap { child in
            guard let parent = child.definition.parent,
                case .reference(let name)? = child.definition.field(parent.field)?.type
            else { return nil }
            return collections[name].map {
                ParentRule(child: child, parent: $0, reference: parent.field, field: parent.set)
            }
        }
    }

    /// New records of a collection set a field of their parents.
    struct ParentRule: Sendable {
        let child: AppliedCollection
        let parent: AppliedCollection
        /// The child's field, which refers to the parent.
        let reference: String
        /// The parent's field.
        let field: String

        /// The name of the parent of a record with this data; nil for none.
        func parent(of data: RecordData) -> RecordName? {
            guard case .record(let id, _)? = data.links.first(where: { $0.field == reference })?.target else {
                return nil
            }
            return RecordName(collectionID: parent.id, id: id)
        }
    }

    /// The rule for a collection's new records; nil when they have no parents.
    func parentRule(of collection: AppliedCollection) -> ParentRule? {
        parentRules.first { $0.child.id == collection.id }
    }

    /// The collection of a name.
    ///
    /// - Throws: `RecordRefusal` when there is none.
    func collection(_ name: String) throws(RecordRefusal) -> AppliedCollection {
        guard let collection = collections[name] else { throw RecordRefusal(.noCollection) }
        return collection
    }

    /// Who may do what in a collection; nil when there is none of the name.
    func access(of name: String) -> Access? { collections[name]?.definition.access }

    /// All collections, in no order.
    var allCollections: [AppliedCollection] { Array(collections.values) }

    /// The collections that two roles read, each with the stream of the role that only reads, and that of the other one.
    ///
    /// Who has both is shown a change by the latter.
    var readTwice: [(collection: AppliedCollection, stream: Int, otherStream: Int)] {
        collections.values.compactMap { collection in
            guard let readers = collection.readers, let role = collection.role else { return nil }
            return (collection, readers.streamID, role.streamID)
        }
    }

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
    /// The role whose members only read the records; nil for none.
    let readers: AppliedRole?
    /// The roles that manage the role whose members share the records.
    let managers: [AppliedRole]

    var name: String { definition.name }

    /// The role whose members are told of a change by its own stream, and not by that of the role which only reads.
    ///
    /// Nil for all other streams.
    func roleTold(besides stream: Int) -> Int? {
        stream == readers?.streamID ? role?.id : nil
    }

    /// The rights that a record gives to streams.
    ///
    /// - Parameters:
    ///   - owner: The owner's stream.
    ///   - recipient: The stream of the member in whose inbox it is; nil for other records.
    ///   - readers: The streams of members who are named as readers.
    ///   - writers: The streams of members who are named as writers.
    /// - Returns: By stream.
    func sharing(owner: Int, recipient: Int? = nil, readers: [Int] = [], writers: [Int] = []) -> [Int: Rights] {
        var sharing: [Int: Rights] = [:]
        for (grantee, rights) in definition.rights {
            let streams: [Int] =
                switch grantee {
                case .owner: [owner]
                case .reader: readers
                case .writer: writers
                case .recipient: [recipient].compactMap(\.self)
                case .role: [role].compactMap { $0?.streamID }
                case .readingRole: [self.readers].compactMap { $0?.streamID }
                case .managingRoles: managers.map(\.streamID)
                case .everybody: [streamID]
                }
            for stream in streams { sharing[stream, default: []].formUnion(rights) }
        }
        return sharing
    }
}

/// A role that is in the database.
struct AppliedRole: Sendable {
    let id: Int
    let streamID: Int
}
