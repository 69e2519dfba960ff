import JSON

extension SchemaReader {
    private static let keys = ["access", "role", "readers", "delete", "ids", "fields", "open", "indexes", "parent"]

    mutating func collection(_ name: String, _ value: JSONValue, at path: [String]) -> RecordCollection? {
        guard let object = object(value, at: path, allowing: Self.keys) else { return nil }
        let fields: [Field]? =
            if let value = object["fields"] {
                named(value, at: object.path(of: "fields"), atMost: Schema.maxFieldCount) { reader, name, value, path in
                    reader.field(name, value, at: path)
                }
            } else { nil }
        return RecordCollection(
            name: name,
            access: access(object),
            role: text(object["role"], at: object.path(of: "role")),
            readers: text(object["readers"], at: object.path(of: "readers")),
            membersDelete: membersDelete(object),
            hasIntegerIDs: hasIntegerIDs(object),
            fields: fields,
            isOpen: flag(object["open"], at: object.path(of: "open")),
            indexes: names(object["indexes"], at: object.path(of: "indexes")),
            parent: parent(object)
        )
    }

    private mutating func access(_ object: SchemaObject) -> Access {
        let words = Access.allCases.map(\.rawValue)
        guard let word = text(object["access"], at: object.path(of: "access")) else {
            if object["access"] == nil { refuse(object.path, "`access` is missing: \(words.joined(separator: ", ")).") }
            return .private
        }
        guard let access = Access(rawValue: word) else {
            refuse(object.path(of: "access"), "It must be one of: \(words.joined(separator: ", ")).")
            return .private
        }
        return access
    }

    private mutating func parent(_ object: SchemaObject) -> RecordCollection.Parent? {
        let path = object.path(of: "parent")
        guard let value = object["parent"], let parent = self.object(value, at: path, allowing: ["field", "set"])
        else { return nil }
        guard let field = text(parent["field"], at: parent.path(of: "field")),
            let set = text(parent["set"], at: parent.path(of: "set"))
        else {
            refuse(path, "It needs `field` and `set`.")
            return nil
        }
        return RecordCollection.Parent(field: field, set: set)
    }

    private mutating func field(_ name: String, _ value: JSONValue, at path: [String]) -> Field? {
        guard let object = object(value, at: path, allowing: ["type", "required", "max", "to"]) else { return nil }
        let isRequired = flag(object["required"], at: object.path(of: "required"))
        guard let word = text(object["type"], at: object.path(of: "type")), let type = type(word, of: object) else {
            if object["type"] == nil { refuse(path, "`type` is missing: \(FieldType.words.joined(separator: ", ")).") }
            return nil
        }
        if object["max"] != nil, word != "string" { refuse(object.path(of: "max"), "Only a string has it.") }
        if object["to"] != nil, !["reference", "references"].contains(word) {
            refuse(object.path(of: "to"), "Only a reference has it.")
        }
        return Field(name: name, type: type, isRequired: isRequired)
    }

    private mutating func type(_ word: String, of object: SchemaObject) -> FieldType? {
        switch word {
        case "string": return .string(max: maxCharacters(object))
        case "reference", "references":
            if let name = text(object["to"], at: object.path(of: "to")) {
                return word == "reference" ? .reference(to: name) : .array(of: .reference(to: name))
            }
            if object["to"] == nil { refuse(object.path, "`to` is missing: the collection that it refers to.") }
            return nil
        default:
            if let type = FieldType.simple.first(where: { $0.word == word }) { return type }
            refuse(object.path(of: "type"), "It must be one of: \(FieldType.words.joined(separator: ", ")).")
            return nil
        }
    }

    private mutating func maxCharacters(_ object: SchemaObject) -> Int? {
        guard let value = object["max"] else { return nil }
        if case .number(let digits) = value, let max = Int(digits), (1...RecordLimits.maxBytes).contains(max) {
            return max
        }
        refuse(object.path(of: "max"), "It must be a whole number from 1 to \(RecordLimits.maxBytes).")
        return nil
    }

    // MARK: What names refer to

    /// Refuses names of roles, collections and fields that do not exist, or can't be meant.
    mutating func checkNames(_ schema: Schema) {
        for role in schema.roles {
            for (position, name) in role.manages.enumerated() where !schema.roles.contains(where: { $0.name == name }) {
                refuse(["roles", role.name, "manages", String(position)], "There is no such role.")
            }
        }
        for collection in schema.collections {
            checkRole(of: collection, in: schema)
            checkFields(of: collection, in: schema)
            checkParent(of: collection, in: schema)
        }
    }

    private mutating func checkRole(of collection: RecordCollection, in schema: Schema) {
        let path = ["collections", collection.name]
        switch (collection.access, collection.role) {
        case (.shared, nil): refuse(path, "`role` is missing: the role whose members share it.")
        case (.shared, let role?):
            if !schema.roles.contains(where: { $0.name == role }) { refuse(path + ["role"], "There is no such role.") }
        case (_, .some): refuse(path + ["role"], "Only a shared collection has it.")
        case (_, nil): break
        }
        if collection.access == .inbox, collection.hasIntegerIDs {
            refuse(path + ["ids"], "Messages have ids of their senders' choice.")
        }
        if collection.access != .shared {
            if collection.readers != nil { refuse(path + ["readers"], "Only a shared collection has it.") }
            if collection.membersDelete { refuse(path + ["delete"], "Only a shared collection has it.") }
        } else if let readers = collection.readers {
            if readers == collection.role {
                refuse(path + ["readers"], "The members of this role read and write the records.")
            } else if !schema.roles.contains(where: { $0.name == readers }) {
                refuse(path + ["readers"], "There is no such role.")
            }
        }
    }

    private mutating func membersDelete(_ object: SchemaObject) -> Bool {
        guard let value = object["delete"] else { return false }
        if value == "members" { return true }
        refuse(object.path(of: "delete"), "It must be \"members\".")
        return false
    }

    private mutating func hasIntegerIDs(_ object: SchemaObject) -> Bool {
        guard let value = object["ids"] else { return false }
        if value == "integer" { return true }
        refuse(object.path(of: "ids"), "It must be \"integer\".")
        return false
    }

    private mutating func checkFields(of collection: RecordCollection, in schema: Schema) {
        let path = ["collections", collection.name]
        for (field, target) in collection.references {
            let path = path + ["fields", field, "to"]
            switch schema.collection(target)?.access {
            case nil: refuse(path, "There is no such collection.")
            case .inbox: refuse(path, "A record in an inbox can't be referred to.")
            default: break
            }
        }
        if collection.isOpen, collection.fields == nil {
            refuse(path + ["open"], "Without `fields`, a record may be any object.")
        }
        if collection.indexes.count > Schema.maxIndexCount {
            refuse(path + ["indexes"], "It has more than \(Schema.maxIndexCount).")
        }
        for (position, name) in collection.indexes.enumerated() {
            let path = path + ["indexes", String(position)]
            guard Schema.isName(name) else {
                refuse(path, "No field can have this name.")
                continue
            }
            if collection.fields == nil || collection.time(ofIndex: name) != nil { continue }
            switch collection.field(name)?.type.canBeIndexed {
            case nil where !collection.isOpen: refuse(path, "There is no such field.")
            case false: refuse(path, "A field of this type can't be indexed.")
            default: break
            }
        }
    }

    private mutating func checkParent(of collection: RecordCollection, in schema: Schema) {
        guard let parent = collection.parent else { return }
        let path = ["collections", collection.name, "parent"]
        guard collection.access != .inbox else { return refuse(path, "A record in an inbox has no parent.") }
        guard case .reference(let target)? = collection.field(parent.field)?.type else {
            return refuse(path + ["field"], "It must be a field that is a reference.")
        }
        let set = schema.collection(target)?.field(parent.set)
        if set?.type != .reference(to: collection.name) {
            refuse(path + ["set"], "It must be a field of `\(target)` that refers to `\(collection.name)`.")
        } else if set?.isRequired == true, !isStored {
            refuse(
                ["collections", target, "fields", parent.set, "required"],
                "It can't be required: the `parent` of `\(collection.name)` sets it, and it is `null` when that record is deleted."
            )
        }
    }
}

extension Schema {
    /// The same, but no field is required that a parent sets.
    var withoutRequiredSetFields: Schema {
        Schema(roles: roles, collections: collections.map { $0.requiring(noneOf: Set(setFields(of: $0.name))) })
    }
}

extension RecordCollection {
    /// The same, but fields of these names are not required.
    fileprivate func requiring(noneOf names: Set<String>) -> RecordCollection {
        RecordCollection(
            name: name,
            access: access,
            role: role,
            readers: readers,
            membersDelete: membersDelete,
            hasIntegerIDs: hasIntegerIDs,
            fields: fields?.map { field in
                let isRequired = field.isRequired && !names.contains(field.name)
                return Field(name: field.name, type: field.type, isRequired: isRequired)
            },
            isOpen: isOpen,
            indexes: indexes,
            parent: parent
        )
    }
}
