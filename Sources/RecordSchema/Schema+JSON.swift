package import JSON
import OrderedCollections

extension Schema {
    /// The schema as a file has it.
    package var json: JSONValue {
        [
            "roles": .object(Self.named(roles.map { ($0.name, $0.json) })),
            "collections": .object(Self.named(collections.map { ($0.name, $0.json) })),
        ]
    }

    fileprivate static func named(_ members: [(String, JSONValue)]) -> OrderedDictionary<String, JSONValue> {
        OrderedDictionary(members) { $1 }
    }
}

extension Schema.Role {
    fileprivate var json: JSONValue {
        var members: OrderedDictionary<String, JSONValue> = [:]
        if !manages.isEmpty { members["manages"] = JSONValue(manages) }
        if isDefault { members["default"] = true }
        return .object(members)
    }
}

extension RecordCollection {
    fileprivate var json: JSONValue {
        var members: OrderedDictionary<String, JSONValue> = ["access": .string(access.rawValue)]
        if let role { members["role"] = .string(role) }
        if let readers { members["readers"] = .string(readers) }
        if membersDelete { members["delete"] = "members" }
        if hasIntegerIDs { members["ids"] = "integer" }
        if !indexes.isEmpty { members["indexes"] = JSONValue(indexes) }
        if let fields { members["fields"] = .object(Schema.named(fields.map { ($0.name, $0.json) })) }
        if isOpen { members["open"] = true }
        if let parent { members["parent"] = ["field": .string(parent.field), "set": .string(parent.set)] }
        return .object(members)
    }
}

extension Field {
    fileprivate var json: JSONValue {
        var members: OrderedDictionary<String, JSONValue> = ["type": .string(type.word)]
        switch type.element {
        case .string(let max?): members["max"] = JSONValue(max)
        case .reference(let collection): members["to"] = .string(collection)
        default: break
        }
        if isRequired { members["required"] = true }
        return .object(members)
    }
}
