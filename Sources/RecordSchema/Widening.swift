/// The users who newly see records of a collection, or photos in them.
package struct Widening: Sendable, Equatable {
    package let collection: String
    package let readers: Readers
    /// The roles whose members saw them before, by name.
    package let formerRoles: [String]

    /// The users who see all records of a collection.
    package enum Readers: Sendable, Equatable {
        case everybody
        /// The members of roles, and of those that manage them: they can give such a role to themselves.
        case roles([String])
        /// Users who sign up from now on.
        case newUsers
        /// The readers of a record see its photo.
        case ofEachRecord
    }

    /// Nil when no user sees more than before.
    ///
    /// - Parameters:
    ///   - before: The collection until now, and the schema that it is in.
    ///   - after: The collection from now on, and the schema that it is in.
    init?(from before: (RecordCollection, Schema), to after: (RecordCollection, Schema)) {
        guard let former = Self.roles(of: before.0, in: before.1) else { return nil }
        if let names = Self.roles(of: after.0, in: after.1) {
            let added = names.filter { !former.contains($0) }
            if added.isEmpty { return nil }
            readers = .roles(added)
        } else {
            readers = .everybody
        }
        collection = after.0.name
        formerRoles = before.0.readingRoles
    }

    /// New users get a role that reads them.
    init(toNewUsersIn collection: String) {
        (self.collection, readers, formerRoles) = (collection, .newUsers, [])
    }

    /// Nil when records show no photos that they did not show before.
    ///
    /// A text that is stored may be the id of a photo. It becomes one with the field's type.
    ///
    /// - Parameters:
    ///   - field: A field from now on.
    ///   - before: The collection until now.
    ///   - after: The collection from now on.
    init?(ofPhotosIn field: Field, from before: RecordCollection, to after: RecordCollection) {
        guard field.type.element == .photo, before.field(field.name)?.type != field.type, after.access != .private
        else {
            return nil
        }
        (collection, readers, formerRoles) = (after.name, .ofEachRecord, [])
    }

    /// The roles whose members see all records of a collection, whoever their owners are; nil for everybody.
    private static func roles(of collection: RecordCollection, in schema: Schema) -> [String]? {
        switch collection.access {
        case .published: nil
        case .shared: schema.rolesThatComeBy(collection.readingRoles)
        case .private, .acl, .inbox: []
        }
    }
}

extension Schema {
    /// Whether new users get a role by which they come by one that reads a collection.
    func showsToNewUsers(_ collection: RecordCollection) -> Bool {
        let names = rolesThatComeBy(collection.readingRoles)
        return roles.contains { $0.isDefault && names.contains($0.name) }
    }

    /// Some roles, and all whose members can give one of them to themselves, in one step or more.
    fileprivate func rolesThatComeBy(_ roles: [String]) -> [String] {
        var names = roles
        // It grows while it is walked along.
        var position = 0
        while position < names.count {
            names += managers(of: names[position]).filter { !names.contains($0) }
            position += 1
        }
        return names.sorted()
    }
}
