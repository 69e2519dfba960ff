package import JSON
import OrderedCollections

/// Checks values against JSON Schemas, as far as the API's document uses them.
///
/// Source: "JSON Schema Validation", draft 2020-12.
package enum JSONSchema {
    /// What is wrong with a value; nil when it fits.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - schema: The schema. A keyword that this check does not know is wrong, too.
    ///   - place: Where the value is, for the answer.
    /// - Returns: One sentence.
    package static func problem(with value: JSONValue, _ schema: JSONValue, at place: String = "the body") -> String? {
        guard case .object(let keywords) = schema else { return "\(place): the schema is no object" }
        for (keyword, rule) in keywords {
            if let problem = problem(with: value, keyword, rule, in: keywords, at: place) { return problem }
        }
        return nil
    }

    private static let annotations: Set = [
        "description", "example", "format", "contentEncoding", "contentMediaType", "$comment",
    ]

    private static func problem(
        with value: JSONValue,
        _ keyword: String,
        _ rule: JSONValue,
        in keywords: OrderedDictionary<String, JSONValue>,
        at place: String
    ) -> String? {
        switch (keyword, rule, value) {
        case ("type", .string(let type), _): return isOf(type, value) ? nil : "\(place) is no \(type)"
        case ("type", .array(let types), _):
            let fits = types.contains { if case .string(let type) = $0 { isOf(type, value) } else { false } }
            return fits ? nil : "\(place) is of none of the types"
        case ("const", _, _): return value == rule ? nil : "\(place) is another constant"
        case ("enum", .array(let values), _): return values.contains(value) ? nil : "\(place) is none of the values"
        case ("anyOf", .array(let schemas), _):
            let fits = schemas.contains { problem(with: value, $0, at: place) == nil }
            return fits ? nil : "\(place) fits none of the schemas"
        case ("required", .array(let names), .object(let members)):
            let missing = names.first { if case .string(let name) = $0 { members[name] == nil } else { true } }
            return missing.map { "\(place) lacks \($0)" }
        case ("properties", .object(let schemas), .object(let members)):
            return schemas.lazy.compactMap { name, schema in
                members[name].flatMap { problem(with: $0, schema, at: "\(place).\(name)") }
            }.first
        case ("additionalProperties", .boolean(false), .object(let members)):
            guard case .object(let known)? = keywords["properties"] else { return "\(place): no properties" }
            return members.keys.first { known[$0] == nil }.map { "\(place) has \($0), which is not described" }
        case ("additionalProperties", .object, .object(let members)):
            return members.lazy.compactMap { problem(with: $1, rule, at: "\(place).\($0)") }.first
        case ("maxItems", .number(let most), .array(let elements)):
            return elements.count <= Int(most) ?? 0 ? nil : "\(place) has too many elements"
        case ("items", _, .array(let elements)):
            return elements.lazy.compactMap { problem(with: $0, rule, at: "\(place)[]") }.first
        case ("pattern", .string(let pattern), .string(let text)):
            guard let regex = try? Regex(pattern) else { return "\(place): the pattern is none" }
            return text.firstMatch(of: regex) == nil ? "\(place) does not match" : nil
        case ("minimum", .number(let least), .number(let number)):
            return (Double(number) ?? -.infinity) >= Double(least) ?? .infinity ? nil : "\(place) is too small"
        case ("required", _, _), ("properties", _, _), ("additionalProperties", _, _), ("items", _, _),
            ("pattern", _, _), ("minimum", _, _), ("maxItems", _, _):
            // They say nothing of values of other types.
            return nil
        case (_, _, _) where annotations.contains(keyword): return nil
        default: return "\(place): the check does not know \(keyword)"
        }
    }

    private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("boolean", .boolean), ("null", .null),
            ("number", .number):
            true
        case ("integer", .number(let digits)): Int(digits) != nil
        default: false
        }
    }
}
