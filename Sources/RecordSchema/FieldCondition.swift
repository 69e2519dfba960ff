package import JSON
import OrderedCollections

/// What `where` asks of one field.
package struct FieldCondition: Sendable, Equatable {
    package let field: String
    package let test: Test

    /// What the field's value must be.
    package enum Test: Sendable, Equatable {
        /// Equal to one of 1 to ``maxValueCount`` values.
        case isOneOf([JSONValue])
        /// In all of these ranges, each comparison once.
        case compares([(IndexRange.Comparison, JSONValue)])
        /// A text that begins with this one.
        case hasPrefix(String)

        package static func == (one: Self, other: Self) -> Bool {
            switch (one, other) {
            case (.isOneOf(let one), .isOneOf(let other)): one == other
            case (.compares(let one), .compares(let other)): one.elementsEqual(other, by: ==)
            case (.hasPrefix(let one), .hasPrefix(let other)): one == other
            default: false
            }
        }
    }

    /// The most values that a field is compared with by `in`.
    package static let maxValueCount = 20
    /// The words of `where`, beside comparisons.
    private static let (equals, isIn, prefix) = ("=", "in", "prefix")
    /// All words.
    package static let words = [equals] + IndexRange.Comparison.allCases.map(\.rawValue) + [isIn, prefix]

    /// A condition that is not well-formed.
    package struct Malformed: Error, Equatable {
        /// What is wrong with it, such as `in takes 1 to 20 values`.
        package let reason: String
    }

    /// - Parameters:
    ///   - field: The field's name.
    ///   - value: A value, or an object of words of ``words``.
    /// - Throws: ``Malformed``.
    package init(_ field: String, _ value: JSONValue) throws(Malformed) {
        self.field = field
        switch value {
        case .array: throw Malformed(reason: "takes no array; use in")
        case .object(let members): test = try Self.test(members.elements.map { ($0.key, $0.value) })
        default: test = .isOneOf([try Self.scalar(value)])
        }
    }

    /// A field that must have a value.
    package init(_ field: String, equals value: JSONValue) {
        (self.field, test) = (field, .isOneOf([value]))
    }

    private static func test(_ members: [(word: String, value: JSONValue)]) throws(Malformed) -> Test {
        for (word, _) in members where !words.contains(word) {
            throw Malformed(reason: "takes one of \(words.joined(separator: " "))")
        }
        let comparisons = members.compactMap { word, value in IndexRange.Comparison(rawValue: word).map { ($0, value) }
        }
        if !comparisons.isEmpty, comparisons.count == members.count {
            for (_, value) in comparisons { _ = try scalar(value) }
            return .compares(comparisons)
        }
        guard members.count == 1, let (word, value) = members.first else {
            throw Malformed(reason: "takes one of \(words.joined(separator: " ")), or two comparisons")
        }
        switch (word, value) {
        case (isIn, .array(let values)) where (1...maxValueCount).contains(values.count):
            for value in values { _ = try scalar(value) }
            return .isOneOf(values)
        case (isIn, _): throw Malformed(reason: "in takes an array of 1 to \(maxValueCount) values")
        case (prefix, .string(let text)) where text.unicodeScalars.count <= IndexValue.maxOrderedCharacters:
            guard value.storageError == nil else { throw Malformed(reason: "prefix is invalid") }
            return .hasPrefix(text)
        case (prefix, _):
            throw Malformed(reason: "prefix takes a text of at most \(IndexValue.maxOrderedCharacters) characters")
        default: return .isOneOf([try scalar(value)])
        }
    }

    private static func scalar(_ value: JSONValue) throws(Malformed) -> JSONValue {
        guard value.depth == 0 else { throw Malformed(reason: "takes no arrays and objects as values") }
        guard value.storageError == nil else { throw Malformed(reason: "has a value that no record can have") }
        return value
    }
}

/// What an index is searched for.
package enum IndexSearch: Sendable, Equatable {
    /// Values: at least one, each once.
    case values([IndexValue])
    case range(IndexRange)

    /// - Parameters:
    ///   - test: What a field's value must be.
    ///   - type: The field's type; nil when that is not described.
    /// - Throws: The reason why no record can have such a value.
    package init(_ test: FieldCondition.Test, of type: FieldType?) throws(RecordValidationError.Reason) {
        switch test {
        case .isOneOf(let values):
            var found: [IndexValue] = []
            for value in values {
                let value = try Self.indexValue(value, of: type)
                if !found.contains(value) { found.append(value) }
            }
            self = .values(found)
        case .compares(let comparisons):
            var range: IndexRange?
            for (comparison, value) in comparisons {
                guard let other = IndexRange(comparison, try Self.indexValue(value, of: type)) else {
                    throw .notOrdered
                }
                range?.intersect(other)
                range = range ?? other
            }
            self = range.map(Self.range) ?? .values([])
        case .hasPrefix(let prefix):
            switch type {
            case .string, .member, .reference, nil: self = .range(IndexRange(prefix: prefix))
            case .integer, .number, .boolean, .timestamp, .json, .photo, .array: throw .notOrdered
            }
        }
    }

    private static func indexValue(
        _ value: JSONValue,
        of type: FieldType?
    ) throws(RecordValidationError.Reason) -> IndexValue {
        // No record can have such a value, so a list without records would hide the mistake.
        if value != .null, let reason = type?.validationError(of: value), case .notA = reason { throw reason }
        return IndexValue(value, of: type)
    }
}
