package import JSON
import OrderedCollections

/// The data of a record that keeps to its collection's fields.
package struct RecordData: Sendable {
    /// The data as JSON without white space, at most ``RecordLimits/maxBytes``.
    package let text: String
    /// The targets of its reference fields.
    ///
    /// Only the database knows whether they exist.
    package let links: [Link]
    /// The values of the collection's indexes of fields.
    package let indexedFields: [IndexedField]

    /// A field's value in an index.
    package struct IndexedField: Sendable, Equatable {
        package let field: String
        package let value: IndexValue

        package init(field: String, value: IndexValue) {
            (self.field, self.value) = (field, value)
        }
    }

    /// A field that names something else.
    package struct Link: Sendable, Hashable {
        package let field: String
        /// The id in an array; empty for a field with one value.
        package let element: String
        package let target: Target
    }

    /// The target of a field.
    package enum Target: Sendable, Hashable {
        case record(id: String, collection: String)
        case member(id: String)
        case photo(randomID: String)
    }

    /// Checks data.
    ///
    /// - Parameters:
    ///   - value: The data.
    ///   - collection: The record's collection.
    /// - Throws: `InvalidRecord` with all that is refused.
    package init(_ value: JSONValue, in collection: RecordCollection) throws(InvalidRecord) {
        guard case .object(let members) = value else {
            throw InvalidRecord(errors: [RecordValidationError(nil, .notAnObject)])
        }
        // Deeper values are not written, which would take as many calls in each other.
        guard value.depth <= RecordLimits.maxDepth else {
            throw InvalidRecord(errors: [RecordValidationError(nil, .tooDeep)])
        }
        text = value.text
        // Data that is too large is not validated further, because that would take long.
        guard text.utf8.count <= RecordLimits.maxBytes else {
            throw InvalidRecord(errors: [RecordValidationError(nil, .tooManyBytes)])
        }
        var errors: [RecordValidationError] = []
        for (name, member) in members {
            if name.utf8.contains(0) { errors.append(RecordValidationError(nil, .unstorable(.hasNull))) }
            if let error = member.storageError { errors.append(RecordValidationError(name, .unstorable(error))) }
        }
        errors += Self.errors(of: members, in: collection)
        guard errors.isEmpty else { throw InvalidRecord(errors: errors) }
        (links, indexedFields) = Self.parts(of: members, in: collection)
        guard links.count <= RecordLimits.maxLinkCount else {
            throw InvalidRecord(errors: [RecordValidationError(nil, .tooManyLinks)])
        }
    }

    /// Takes data that was stored before, even if it does not keep to the fields that the collection has now.
    ///
    /// - Parameters:
    ///   - text: The data as JSON.
    ///   - value: The same, parsed; nil when only this needs it.
    ///   - collection: The record's collection.
    package init(stored text: String, _ value: JSONValue? = nil, in collection: RecordCollection) {
        self.text = text
        guard case .object(let members) = value ?? Self.value(stored: text) else {
            (links, indexedFields) = Self.parts(of: [:], in: collection)
            return
        }
        (links, indexedFields) = Self.parts(of: members, in: collection)
    }

    /// Parses data that was stored before, perhaps when fewer texts were refused.
    ///
    /// - Parameter text: The data as JSON.
    /// - Returns: The data; `null` for a text that is not JSON.
    package static func value(stored text: String) -> JSONValue {
        (try? JSONValue.parse(stored: text.utf8)) ?? .null
    }

    private static func parts(
        of members: OrderedDictionary<String, JSONValue>,
        in collection: RecordCollection
    ) -> (links: [Link], indexedFields: [IndexedField]) {
        let links = (collection.fields ?? []).filter(\.type.isLink).flatMap { field in
            members[field.name].map(field.links) ?? []
        }
        let indexedFields = collection.indexes.filter { collection.time(ofIndex: $0) == nil }.map { name in
            IndexedField(field: name, value: IndexValue(members[name] ?? .null, of: collection.field(name)?.type))
        }
        return (links, indexedFields)
    }

    private static func errors(
        of members: OrderedDictionary<String, JSONValue>,
        in collection: RecordCollection
    ) -> [RecordValidationError] {
        guard let fields = collection.fields else { return [] }
        let unknown = collection.isOpen ? [] : members.keys.filter { collection.field($0) == nil }
        return unknown.map { RecordValidationError($0, .unknown) }
            + fields.compactMap { field in
                guard let value = members[field.name], value != .null else {
                    return field.isRequired ? RecordValidationError(field.name, .missing) : nil
                }
                return field.type.validationError(of: value).map { RecordValidationError(field.name, $0) }
            }
    }
}

extension Field {
    /// What a value of the field names; nothing for one of another type.
    fileprivate func links(_ value: JSONValue) -> [RecordData.Link] {
        switch (type, value) {
        case (.array(let element), .array(let values)):
            var seen: Set<String> = []
            return values.compactMap { value in
                guard case .string(let id) = value, seen.insert(id).inserted else { return nil }
                return element.target(id).map { RecordData.Link(field: name, element: id, target: $0) }
            }
        case (_, .string(let id)):
            return type.target(id).map { [RecordData.Link(field: name, element: "", target: $0)] } ?? []
        default: return []
        }
    }
}

extension FieldType {
    /// The target of a value of the type; nil when it has none.
    fileprivate func target(_ id: String) -> RecordData.Target? {
        switch self {
        case .member: .member(id: id)
        case .reference(let collection): .record(id: id, collection: collection)
        case .photo: .photo(randomID: id)
        case .string, .integer, .number, .boolean, .timestamp, .json, .array: nil
        }
    }

    /// The rule that a value breaks; nil when it is of the type.
    ///
    /// - Parameter value: The value, not `null`.
    /// - Returns: The rule.
    package func validationError(of value: JSONValue) -> RecordValidationError.Reason? {
        switch (self, value) {
        case (.json, _), (.number, .number), (.boolean, .boolean): nil
        case (.string(let max?), .string(let text)):
            text.unicodeScalars.count > max ? .tooLong(maxCharacters: max) : nil
        case (.string, .string): nil
        case (.integer, .number(let digits)): Int(digits) == nil ? .notA(self) : nil
        case (.timestamp, .string(let text)): Timestamp(text) == nil ? .notA(self) : nil
        case (.member, .string(let id)), (.reference, .string(let id)), (.photo, .string(let id)):
            RecordID.isValid(id) ? nil : .notA(self)
        case (.array(let element), .array(let values)):
            if values.count > Self.maxElementCount {
                .tooManyElements
            } else if values.contains(where: { element.validationError(of: $0) != nil }) {
                .notA(self)
            } else if Set(values.map(\.text)).count < values.count {
                .repeatedElement
            } else {
                nil
            }
        default: .notA(self)
        }
    }
}
