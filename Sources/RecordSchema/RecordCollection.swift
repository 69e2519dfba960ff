/// A named kind of record.
package struct RecordCollection: Sendable, Equatable {
    package let name: String
    package let access: Access
    /// The role whose members share the records, if `access` is `shared`; nil otherwise.
    package let role: String?
    /// The role whose members only read the records, if `access` is `shared`; nil for none.
    package let readers: String?
    /// Whether all members of `role` may delete records.
    package let membersDelete: Bool
    /// Whether the ids of its records are whole numbers, which the service counts up.
    package let hasIntegerIDs: Bool
    /// The fields of its records; nil when a record may be any JSON object.
    package let fields: [Field]?
    /// Whether records may have other fields, too.
    package let isOpen: Bool
    /// The fields that `where` and `order` can look for.
    ///
    /// `created_at` and `updated_at` are the record's own times, unless a field has the name.
    package let indexes: [String]
    package let parent: Parent?

    /// The field of a parent that the creation of a record also sets.
    package struct Parent: Sendable, Equatable {
        /// The field that refers to the parent.
        package let field: String
        /// The parent's field that is set to the new record's id.
        package let set: String
    }

    /// The roles whose members read all of its records.
    package var readingRoles: [String] { access == .shared ? [role, readers].compactMap(\.self) : [] }

    /// The rights of each kind of grantee.
    ///
    /// A user of two kinds has the rights of both.
    package var rights: [Access.Grantee: Rights] {
        var rights = access.rights
        if membersDelete { rights[.role]?.insert(.delete) }
        return rights
    }

    /// The field of a name; nil when it is not described.
    package func field(_ name: String) -> Field? {
        fields?.first { $0.name == name }
    }

    /// The record's own time that an index of this name has; nil for an index of a field.
    package func time(ofIndex name: String) -> RecordTime? {
        field(name) == nil ? RecordTime(rawValue: name) : nil
    }

    /// The type of the values that an index of this name has; nil when it is not described.
    package func type(ofIndex name: String) -> FieldType? {
        time(ofIndex: name) == nil ? field(name)?.type : .timestamp
    }

    /// Its fields that refer to records, with the collections that they refer to.
    package var references: [(field: String, collection: String)] {
        (fields ?? []).compactMap { field in
            if case .reference(let collection) = field.type.element { (field.name, collection) } else { nil }
        }
    }

    /// Its fields that are photos.
    package var photoFields: [String] {
        (fields ?? []).filter { $0.type.element == .photo }.map(\.name)
    }
}

/// A record's own time.
package enum RecordTime: String, Sendable, CaseIterable {
    case created = "created_at"
    case updated = "updated_at"
}
