/// Who sees records of a collection from now on, and did not before.
package struct Widening: Sendable, Equatable {
    package let collection: String
    package let readers: Readers
    /// The roles whose members saw them before, by name.
    package let formerRoles: [String]

    /// Who sees all records of a collection.
    package enum Readers: Sendable, Equatable {
        case everybody
        /// The members of roles, and of those that manage them: they can give such a role to themselves.
        case roles([String])
    }

    /// Nil when nobody sees more than before.
    ///
    /// - Parameters:
    ///   - before: The collection until now, and the schema that it is in.
    ///   - after: The collection from now on, and the schema that it is in.
    init?(from before: (RecordCollection, Schema), to after: (RecordCollection, Schema)) {
        let former: [String]
        switch Self.readers(of: before.0, in: before.1) {
        case .everybody: return nil
        case .roles(let names): former = names
        }
        switch Self.readers(of: after.0, in: after.1) {
        case .everybody: readers = .everybody
        case .roles(let names):
            let added = names.filter { !former.contains($0) }
            if added.isEmpty { return nil }
            readers = .roles(added)
        }
        collection = after.0.name
        formerRoles = former
    }

    /// Who sees all records of a collection, whoever their owners are.
    private static func readers(of collection: RecordCollection, in schema: Schema) -> Readers {
        switch collection.access {
        case .published: .everybody
        case .shared: .roles(collection.role.map(schema.rolesThatComeBy) ?? [])
        case .private, .acl, .inbox: .roles([])
        }
    }
}

extension Schema {
    /// A role, and all whose members can give it to themselves, in one step or more.
    fileprivate func rolesThatComeBy(_ role: String) -> [String] {
        var names = [role]
        // It grows while it is walked along.
        var position = 0
        while position < names.count {
            names += managers(of: names[position]).filter { !names.contains($0) }
            position += 1
        }
        return names.sorted()
    }
}
