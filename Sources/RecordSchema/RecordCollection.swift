/// A named kind of record.
package struct RecordCollection: Sendable, Equatable {
    package let name: String
    package let access: Access
    /// The role whose members share the records, if `access` is `shared`; nil otherwise.
    package let role: String?
    /// The fields of its records; nil when a record may be any JSON object.
    package let fields: [Field]?
    /// Whether records may have other fields, too.
    package let isOpen: Bool
    /// The fields that `where` can look for.
    package let indexes: [String]
    package let parent: Parent?

    /// The field of a parent that the creation of a record also sets.
    package struct Parent: Sendable, Equatable {
        /// The field that refers to the parent.
        package let field: String
        /// The parent's field that is set to the new record's id.
        package let set: String
    }

    /// The field of a name; nil when it is not described.
    package func field(_ name: String) -> Field? {
        fields?.first { $0.name == name }
    }

    /// Its fields that refer to records, with the collections that they refer to.
    package var references: [(field: String, collection: String)] {
        (fields ?? []).compactMap { field in
            if case .reference(let collection) = field.type { (field.name, collection) } else { nil }
        }
    }

    /// Its fields that are photos.
    package var photoFields: [String] {
        (fields ?? []).filter { $0.type == .photo }.map(\.name)
    }
}
