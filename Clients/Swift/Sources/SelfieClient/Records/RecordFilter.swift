public import Foundation

/// A condition on a field that has an index, as lists take it.
public struct RecordFilter: Sendable, Hashable {
    enum Operator: Sendable, Hashable {
        case equal(JSONValue)
        case oneOf([JSONValue])
        case prefix(String)
        /// Bounds by the operator's sign.
        case range([String: JSONValue])
    }

    let field: String
    let condition: Operator

    /// The field has this value; ``JSONValue/null`` finds records without one.
    public static func equal(_ field: String, _ value: JSONValue) -> RecordFilter {
        RecordFilter(field: field, condition: .equal(value))
    }

    /// The field has this text, such as the id of a record or a member.
    public static func equal(_ field: String, _ value: String) -> RecordFilter { equal(field, .string(value)) }

    /// The field has one of up to 20 values.
    public static func oneOf(_ field: String, _ values: [JSONValue]) -> RecordFilter {
        RecordFilter(field: field, condition: .oneOf(values))
    }

    /// The field's text begins so.
    ///
    /// Letters' case matters.
    public static func prefix(_ field: String, _ beginning: String) -> RecordFilter {
        RecordFilter(field: field, condition: .prefix(beginning))
    }

    /// The field's value lies between bounds: of numbers, of texts, or of times.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - from: The smallest value; nil without such a bound.
    ///   - below: What all values are smaller than; nil without such a bound.
    /// - Returns: The filter.
    public static func range(_ field: String, from: JSONValue? = nil, below: JSONValue? = nil) -> RecordFilter {
        var bounds: [String: JSONValue] = [:]
        bounds[">="] = from
        bounds["<"] = below
        return RecordFilter(field: field, condition: .range(bounds))
    }

    /// The same, with bounds on the other sides.
    public static func range(_ field: String, above: JSONValue? = nil, through: JSONValue) -> RecordFilter {
        var bounds = ["<=": through]
        bounds[">"] = above
        return RecordFilter(field: field, condition: .range(bounds))
    }

    /// The field's time lies between two others.
    public static func range(_ field: String, from: Date?, below: Date?) -> RecordFilter {
        range(
            field,
            from: from.map { .string(JSONCoding.text(of: $0)) },
            below: below.map { .string(JSONCoding.text(of: $0)) }
        )
    }

    private var json: JSONValue {
        switch condition {
        case .equal(let value): value
        case .oneOf(let values): ["in": .array(values)]
        case .prefix(let text): ["prefix": .string(text)]
        case .range(let bounds): .object(bounds)
        }
    }

    /// The parameter `where`; nil without conditions.
    static func parameter(_ filters: [RecordFilter]) throws -> String? {
        guard !filters.isEmpty else { return nil }
        let object = Dictionary(filters.map { ($0.field, $0.json) }) { $1 }
        guard object.count == filters.count else {
            let message = "A list takes one condition for each field."
            throw SelfieError.invalid(.init(status: 400, code: "where_invalid", message: message))
        }
        return String(decoding: try JSONCoding.encode(object), as: UTF8.self)
    }
}

/// The order of a list.
public enum RecordOrder: Sendable, Hashable {
    /// By the time of creation, the oldest first.
    case oldestFirst
    /// By the time of creation, the newest first.
    case newestFirst
    /// By a field that has an index.
    case ascending(String)
    /// By a field that has an index, the last value first.
    case descending(String)

    var parameter: String {
        switch self {
        case .oldestFirst: "created"
        case .newestFirst: "-created"
        case .ascending(let field): field
        case .descending(let field): "-" + field
        }
    }
}
