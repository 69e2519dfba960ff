/// The roles and collections of an installation, as its operator describes them.
package struct Schema: Sendable, Equatable {
    package let roles: [Role]
    package let collections: [RecordCollection]

    /// A group of members.
    package struct Role: Sendable, Equatable {
        package let name: String
        /// The roles whose members its members may add and remove.
        package let manages: [String]
    }

    /// No role and no collection.
    package static let empty = Schema(roles: [], collections: [])

    /// The collection of a name; nil when there is none.
    package func collection(_ name: String) -> RecordCollection? {
        collections.first { $0.name == name }
    }

    /// The names of the roles whose members manage a role.
    package func managers(of role: String) -> [String] {
        roles.filter { $0.manages.contains(role) }.map(\.name)
    }

    /// The fields of a collection's records that the `parent` of other collections sets.
    ///
    /// What clients send for them is ignored.
    package func setFields(of collection: String) -> [String] {
        collections.compactMap { child in
            child.parent.flatMap { parent in
                let isOwn = child.references.contains { $0.field == parent.field && $0.collection == collection }
                return isOwn ? parent.set : nil
            }
        }
    }

    /// The most collections.
    package static let maxCollectionCount = 64
    /// The most roles.
    package static let maxRoleCount = 32
    /// The most indexes of a collection.
    package static let maxIndexCount = 4
    /// The most fields of a collection.
    package static let maxFieldCount = 64
    /// The most characters of a name.
    package static let maxNameLength = 63
    /// The most bytes of a schema file.
    package static let maxFileBytes = 1 << 20
    /// The name of photos in the feed.
    package static let photosName = "photos"
}
