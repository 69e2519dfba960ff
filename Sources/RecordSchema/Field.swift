package import JSON
import OrderedCollections

/// A field that the records of a collection have.
package struct Field: Sendable, Equatable {
    package let name: String
    package let type: FieldType
    /// Whether each record must have it, and not as `null`.
    package let isRequired: Bool

    /// - Parameters:
    ///   - name: Its name in records.
    ///   - type: The type of its values.
    ///   - isRequired: Whether each record must have it.
    package init(name: String, type: FieldType, isRequired: Bool = false) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
    }
}

/// The type of a field's values.
package indirect enum FieldType: Sendable, Equatable {
    /// A text of at most this many characters. With nil, only the record's limit counts.
    case string(max: Int?)
    /// A whole number of 64 bits.
    case integer
    case number
    case boolean
    /// A time of RFC 3339, such as `2026-11-24T10:00:00Z`.
    case timestamp
    /// Any value.
    case json
    /// The id of a member.
    case member
    /// The id of a record in a collection.
    case reference(to: String)
    /// The `random_id` of a photo.
    case photo
    /// An array of up to ``maxElementCount`` ids, each once: of members, of records in one collection, or of photos.
    case array(of: FieldType)

    /// The most ids of an array.
    package static let maxElementCount = 20

    /// The word for it in schema files.
    package var word: String {
        switch self {
        case .string: "string"
        case .integer: "integer"
        case .number: "number"
        case .boolean: "boolean"
        case .timestamp: "timestamp"
        case .json: "json"
        case .member: "member"
        case .reference: "reference"
        case .photo: "photo"
        case .array(let element): "\(element.word)s"
        }
    }

    /// The type of an array's elements; this one where it is no array.
    package var element: FieldType {
        if case .array(let element) = self { element } else { self }
    }

    /// The types that need nothing but their word.
    package static let simple: [FieldType] = [
        .integer, .number, .boolean, .timestamp, .json, .member, .photo, .array(of: .member), .array(of: .photo),
    ]

    /// All words.
    package static let words = ["string"] + simple.map { $0.word } + ["reference", "references"]

    /// Whether `where` can look for its values.
    package var canBeIndexed: Bool {
        switch self {
        case .json, .photo, .array: false
        case .string, .integer, .number, .boolean, .timestamp, .member, .reference: true
        }
    }

    /// Whether its values name something that must be there.
    package var isLink: Bool {
        switch self {
        case .member, .reference, .photo, .array: true
        case .string, .integer, .number, .boolean, .timestamp, .json: false
        }
    }

    /// Its values as JSON Schema.
    package var jsonSchema: JSONValue {
        switch self {
        case .string(let max):
            (["type": "string", "pattern": #"^[^\u0000]*$"#] as JSONValue).with(
                max.map { ["maxLength": JSONValue($0)] } ?? [:]
            )
        case .integer: ["type": "integer", "minimum": .number("\(Int.min)"), "maximum": .number("\(Int.max)")]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .timestamp: ["type": "string", "format": "date-time"]
        case .json: [:]
        case .member: ["type": "string", "description": "The id of a member."]
        case .reference(let collection):
            [
                "type": "string", "pattern": .string(RecordID.pattern),
                "description": .string("The id of a record in \(collection)."),
            ]
        case .photo: ["type": "string", "description": "The `random_id` of one of the author's photos."]
        case .array(let element):
            [
                "type": "array", "items": element.jsonSchema, "maxItems": JSONValue(Self.maxElementCount),
                "uniqueItems": true,
            ]
        }
    }

    /// A value of the type.
    package var example: JSONValue {
        switch self {
        case .string(let max): .string(String("a text".prefix(max ?? .max)))
        case .integer: 3
        case .number: .number("2.5")
        case .boolean: true
        case .timestamp: "2026-11-24T10:00:00Z"
        case .json: [:]
        case .member: "3f2b8c1e9d7a46508e1c5b7a9d2f4e60"
        case .reference: "an-id"
        case .photo: "Xk3vQ8EJt5nWm2Yb7LhRs9DkPz4GfUu6BoTiNaQw1cd"
        case .array(let element): [element.example]
        }
    }
}
