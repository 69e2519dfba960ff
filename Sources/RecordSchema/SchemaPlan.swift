/// The changes of applying a schema: a pure function of the present and the new one.
package struct SchemaPlan: Sendable, Equatable {
    /// In the order of the file, removals last.
    package let changes: [Change]

    /// A change of a role or a collection.
    package struct Change: Sendable, Equatable {
        /// In a line, such as `add the collection bugs (shared, role team)`.
        package let description: String
        /// Whether it loses data.
        package let losesData: Bool
        /// Whether it can't be made.
        package let isRefused: Bool
        /// The collection whose records it removes; nil for none.
        package let removed: String?
        /// Who sees records that they did not see before; nil for no user.
        package let widening: Widening?
        /// The collection whose records must be reviewed; nil for none.
        let reviewed: String?

        init(
            _ description: String,
            losesData: Bool = false,
            isRefused: Bool = false,
            removed: String? = nil,
            widening: Widening? = nil,
            reviewed: String? = nil
        ) {
            self.description = description
            self.losesData = losesData
            self.isRefused = isRefused
            self.removed = removed
            self.widening = widening
            self.reviewed = reviewed
        }
    }

    package var losses: [Change] { changes.filter(\.losesData) }
    package var refusals: [Change] { changes.filter(\.isRefused) }

    /// The collections whose records must be looked at one by one, in order.
    package var reviewedCollections: [String] {
        changes.compactMap(\.reviewed).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// - Parameters:
    ///   - old: The present schema.
    ///   - new: The schema that is to be applied.
    package init(from old: Schema, to new: Schema) {
        var changes: [Change] = []
        for role in new.roles {
            guard let before = old.roles.first(where: { $0.name == role.name }) else {
                changes.append(Change("add the role \(role.name)\(Self.managing(role))"))
                if role.isDefault { changes.append(Change("give the role \(role.name) to each new user")) }
                continue
            }
            if before.isDefault != role.isDefault {
                changes.append(
                    Change(
                        "give the role \(role.name) \(role.isDefault ? "to each new user" : "to no new user any more")"
                    )
                )
            }
            if Set(before.manages) != Set(role.manages) {
                changes.append(Change("change the role \(role.name): it manages \(Self.list(role.manages))"))
            }
        }
        for collection in new.collections {
            guard let before = old.collection(collection.name) else {
                changes.append(Change("add the collection \(collection.name) (\(Self.access(collection)))"))
                continue
            }
            changes += Self.changes(from: before, to: collection, old, new)
        }
        for collection in old.collections where new.collection(collection.name) == nil {
            changes.append(
                Change(
                    "remove the collection \(collection.name) with all its records",
                    losesData: true,
                    removed: collection.name
                )
            )
        }
        for role in old.roles where !new.roles.contains(where: { $0.name == role.name }) {
            changes.append(Change("remove the role \(role.name) with the list of its members", losesData: true))
        }
        if changes.isEmpty, old != new { changes.append(Change("change the order of roles, collections or fields")) }
        self.changes = changes
    }

    /// Whether the records of a collection have the same grants under both schemas.
    ///
    /// - Parameters:
    ///   - before: The collection until now.
    ///   - after: The collection from now on.
    ///   - old: The schema until now.
    ///   - new: The schema from now on.
    /// - Returns: Whether they have.
    package static func isSharedAlike(
        _ before: RecordCollection,
        _ after: RecordCollection,
        _ old: Schema,
        _ new: Schema
    ) -> Bool {
        before.access == after.access && before.role == after.role && before.readers == after.readers
            && before.membersDelete == after.membersDelete
            && Set(before.role.map(old.managers) ?? []) == Set(after.role.map(new.managers) ?? [])
    }

    private static func changes(
        from before: RecordCollection,
        to after: RecordCollection,
        _ old: Schema,
        _ new: Schema
    ) -> [Change] {
        var changes: [Change] = []
        let name = after.name
        let widening = Widening(from: (before, old), to: (after, new))
        if before.access != after.access || before.role != after.role || before.readers != after.readers {
            // Records of an inbox lie with a member, others do not.
            let isRefused = before.access != after.access && [before.access, after.access].contains(.inbox)
            changes.append(
                Change(
                    "change the access of \(name) from \(access(before)) to \(access(after))"
                        + (isRefused ? ", which can't be done" : ""),
                    losesData: before.access == .acl,
                    isRefused: isRefused,
                    widening: isRefused ? nil : widening,
                    reviewed: name
                )
            )
        } else if before.membersDelete != after.membersDelete {
            let who = after.membersDelete ? "all members of the role" : "only owners and who manages the role"
            changes.append(Change("let \(who) delete records of \(name)", widening: widening, reviewed: name))
        } else if !isSharedAlike(before, after, old, new) {
            changes.append(Change("change who manages the records of \(name)", widening: widening, reviewed: name))
        } else if let widening {
            // They manage roles that manage its role, and so can give it to themselves.
            changes.append(Change("more roles can reach the records of \(name)", widening: widening))
        }
        if new.showsToNewUsers(after), !old.showsToNewUsers(before) {
            changes.append(Change("show \(name) to each new user", widening: Widening(toNewUsersIn: name)))
        }
        changes += fieldChanges(from: before, to: after)
        if Set(before.indexes) != Set(after.indexes) {
            changes.append(Change("change the indexes of \(name) to \(list(after.indexes))", reviewed: name))
        }
        if before.hasIntegerIDs != after.hasIntegerIDs {
            changes.append(
                Change("give new records of \(name) \(after.hasIntegerIDs ? "whole numbers" : "texts") as ids")
            )
        }
        if before.isOpen != after.isOpen {
            changes.append(
                Change(
                    after.isOpen ? "let \(name) have other fields, too" : "let \(name) have no other fields",
                    reviewed: name
                )
            )
        }
        if before.parent != after.parent {
            changes.append(
                Change(after.parent.map { "let \(name) set \($0.set) by \($0.field)" } ?? "let \(name) have no parent")
            )
        }
        return changes
    }

    private static func fieldChanges(from before: RecordCollection, to after: RecordCollection) -> [Change] {
        let name = after.name
        guard let old = before.fields, let new = after.fields else {
            if before.fields == nil, after.fields == nil { return [] }
            let what = after.fields == nil ? "any JSON object" : "only the fields of the file"
            let widening = (after.fields ?? []).lazy.compactMap { Widening(ofPhotosIn: $0, from: before, to: after) }
                .first
            return [Change("let \(name) take \(what)", widening: widening, reviewed: name)]
        }
        let added = new.filter { before.field($0.name) == nil }.map {
            Change(
                "add the field \($0.name) (\($0.type.word)) to \(name)",
                widening: Widening(ofPhotosIn: $0, from: before, to: after),
                reviewed: name
            )
        }
        let changed = new.compactMap { field -> Change? in
            guard let old = before.field(field.name), old != field else { return nil }
            return Change(
                "change the field \(field.name) of \(name): \(field.difference(from: old))",
                widening: Widening(ofPhotosIn: field, from: before, to: after),
                reviewed: name
            )
        }
        let removed = old.filter { after.field($0.name) == nil }.map {
            Change("remove the field \($0.name) from \(name); records keep their values", reviewed: name)
        }
        return added + changed + removed
    }

    private static func access(_ collection: RecordCollection) -> String {
        let roles = [collection.role.map { "role \($0)" }, collection.readers.map { "readers \($0)" }].compactMap(
            \.self
        )
        return ([collection.access.rawValue] + roles).joined(separator: ", ")
    }

    private static func managing(_ role: Schema.Role) -> String {
        role.manages.isEmpty ? "" : ", which manages \(list(role.manages))"
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.joined(separator: ", ")
    }
}
