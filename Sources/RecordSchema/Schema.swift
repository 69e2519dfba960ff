import Encodings

/// The roles and collections of an installation, as its operator describes them.
package struct Schema: Sendable, Equatable {
    package let roles: [Role]
    package let collections: [RecordCollection]

    /// A group of members.
    package struct Role: Sendable, Equatable {
        package let name: String
        /// The roles whose members its members may add and remove.
        package let manages: [String]
        /// Whether each new user gets it.
        package let isDefault: Bool

        /// - Parameters:
        ///   - name: Its name.
        ///   - manages: The roles whose members its members may add and remove.
        ///   - isDefault: Whether each new user gets it.
        package init(name: String, manages: [String], isDefault: Bool = false) {
            (self.name, self.manages, self.isDefault) = (name, manages, isDefault)
        }
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

    /// The collections whose records the members of a role read.
    package func collections(readBy role: String) -> [RecordCollection] {
        collections.filter { $0.readingRoles.contains(role) }
    }

    /// The fields of a collection's records that the `parent` of other collections sets.
    ///
    /// What clients send for them is ignored.
    package func setFields(of collection: String) -> [String] {
        collections.compactMap { child in
            child.parent.flatMap { parent in
                child.field(parent.field)?.type == .reference(to: collection) ? parent.set : nil
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

    /// Whether roles, collections and indexed fields can have a name: a letter, and letters, digits, `_` and `-`.
    package static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isASCIILetter else { return false }
        return name.utf8.count <= maxNameLength
            && name.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }
}
