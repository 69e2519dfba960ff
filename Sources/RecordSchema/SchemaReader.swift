import Encodings
import JSON
import OrderedCollections

extension Schema {
    /// Reads a schema file.
    ///
    /// - Parameter text: The file's text in UTF-8.
    /// - Throws: `InvalidSchema` with all that is refused.
    package init(file text: some Collection<UInt8>) throws(InvalidSchema) {
        try self.init(text, isStored: false)
    }

    /// Reads a schema that was applied, perhaps by an older service, which refused less.
    ///
    /// No field is required that the `parent` of a collection sets: it is `null` when the record that it names is deleted.
    ///
    /// - Parameter text: The schema as JSON in UTF-8.
    /// - Throws: `InvalidSchema` with all that is refused.
    package init(stored text: some Collection<UInt8>) throws(InvalidSchema) {
        try self.init(text, isStored: true)
    }

    private init(_ text: some Collection<UInt8>, isStored: Bool) throws(InvalidSchema) {
        guard text.count <= Self.maxFileBytes else {
            let message = "The file has more than \(Self.maxFileBytes) bytes."
            throw InvalidSchema(errors: [SchemaValidationError(line: 1, key: "", message: message)])
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            let message =
                switch error.error {
                case .malformed: "The file is not valid JSON from here on."
                case .tooDeep: "The file has too many levels."
                case .tooManyValues: "The file has too many values."
                case .unfitName: "A name has more than 255 bytes, or more than 30 combining marks in a row."
                }
            throw InvalidSchema(errors: [SchemaValidationError(line: error.line, key: "", message: message)])
        }
        var reader = SchemaReader(document: document, isStored: isStored)
        let schema = reader.schema()
        let errors = reader.errors.sorted { $0.line < $1.line }
        guard errors.isEmpty else { throw InvalidSchema(errors: errors) }
        self = isStored ? schema.withoutRequiredSetFields : schema
    }
}

/// An object of a schema file that is being read.
struct SchemaObject {
    let path: [String]
    let members: [(name: String, value: JSONValue)]

    subscript(name: String) -> JSONValue? {
        members.first { $0.name == name }?.value
    }

    func path(of name: String) -> [String] { path + [name] }
}

/// Reads a schema file, and gathers what is wrong with it.
struct SchemaReader {
    let document: JSONDocument
    /// Whether an older service may have taken it.
    let isStored: Bool
    private(set) var errors: [SchemaValidationError] = []

    init(document: JSONDocument, isStored: Bool) {
        self.document = document
        self.isStored = isStored
        for (path, _) in document.duplicates { refuse(path, "The name appears twice.") }
    }

    mutating func refuse(_ path: [String], _ message: String) {
        let line = document.duplicates.first { $0.path == path }?.line ?? document.line(of: path)
        errors.append(SchemaValidationError(line: line, key: path.joined(separator: "."), message: message))
    }

    mutating func schema() -> Schema {
        guard let file = object(document.value, at: [], allowing: ["roles", "collections"]) else { return .empty }
        let roles = named(file["roles"], at: ["roles"], atMost: Schema.maxRoleCount) { reader, name, value, path in
            let object = reader.object(value, at: path, allowing: ["manages", "default"])
            let manages = object.map { reader.names($0["manages"], at: $0.path(of: "manages")) } ?? []
            let isDefault = object.map { reader.flag($0["default"], at: $0.path(of: "default")) } ?? false
            return Schema.Role(name: name, manages: manages, isDefault: isDefault)
        }
        let collections = named(
            file["collections"],
            at: ["collections"],
            atMost: Schema.maxCollectionCount
        ) { reader, name, value, path in
            if name == Schema.photosName { reader.refuse(path, "The feed uses the name `photos` for photos.") }
            return reader.collection(name, value, at: path)
        }
        let schema = Schema(roles: roles, collections: collections)
        checkNames(schema)
        return schema
    }

    // MARK: Values

    /// The members of an object; nil when it is none.
    mutating func object(_ value: JSONValue, at path: [String], allowing names: [String]?) -> SchemaObject? {
        guard case .object(let members) = value else {
            refuse(path, "It must be an object.")
            return nil
        }
        if let names {
            for name in members.keys where !names.contains(name) {
                refuse(path + [name], "It is unknown. Allowed here: \(names.joined(separator: ", ")).")
            }
        }
        return SchemaObject(path: path, members: members.map { ($0.key, $0.value) })
    }

    /// What the members of an object describe, each under its name.
    mutating func named<Described>(
        _ value: JSONValue?,
        at path: [String],
        atMost maxCount: Int,
        _ describe: (inout SchemaReader, String, JSONValue, [String]) -> Described?
    ) -> [Described] {
        guard let value, let object = object(value, at: path, allowing: nil) else { return [] }
        if object.members.count > maxCount { refuse(path, "It has more than \(maxCount).") }
        var described: [Described] = []
        for (name, value) in object.members {
            let path = path + [name]
            if !Schema.isName(name) {
                refuse(
                    path,
                    "A name starts with a letter, then has letters, digits, `_` and `-`, \(Schema.maxNameLength) characters at most."
                )
            }
            if let next = describe(&self, name, value, path) { described.append(next) }
        }
        return described
    }

    mutating func names(_ value: JSONValue?, at path: [String]) -> [String] {
        guard let value else { return [] }
        guard case .array(let elements) = value else {
            refuse(path, "It must be an array of names.")
            return []
        }
        var names: [String] = []
        for (position, element) in elements.enumerated() {
            let path = path + [String(position)]
            guard let name = text(element, at: path) else { continue }
            if names.contains(name) { refuse(path, "The name appears twice.") }
            names.append(name)
        }
        return names
    }

    mutating func text(_ value: JSONValue?, at path: [String]) -> String? {
        guard let value else { return nil }
        if case .string(let text) = value { return text }
        refuse(path, "It must be a text.")
        return nil
    }

    mutating func flag(_ value: JSONValue?, at path: [String]) -> Bool {
        guard let value else { return false }
        if case .boolean(let flag) = value { return flag }
        refuse(path, "It must be true or false.")
        return false
    }
}
