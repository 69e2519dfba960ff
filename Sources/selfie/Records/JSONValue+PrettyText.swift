import JSON
import OrderedCollections

extension JSONValue {
    /// The value as JSON for people: a line for each member of the first levels, and short values on one line.
    var prettyText: String { pretty(indent: "", room: Self.maxLineLength) }

    private static let maxLineLength = 100

    private func pretty(indent: String, room: Int) -> String {
        let short = spacedText
        let inner = indent + "  "
        switch self {
        case .object(let members) where !members.isEmpty && (indent.isEmpty || short.count > room):
            let lines = members.map { name, value in
                let key = "\(JSONValue.string(name).text): "
                return inner + key + value.pretty(indent: inner, room: Self.maxLineLength - inner.count - key.count)
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements) where !elements.isEmpty && short.count > room:
            let lines = elements.map { inner + $0.pretty(indent: inner, room: Self.maxLineLength - inner.count) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        default: return short
        }
    }

    /// On one line, with a space after each comma and colon.
    private var spacedText: String {
        switch self {
        case .object(let members):
            "{\(members.map { "\(JSONValue.string($0).text): \($1.spacedText)" }.joined(separator: ", "))}"
        case .array(let elements): "[\(elements.map(\.spacedText).joined(separator: ", "))]"
        case .null, .boolean, .number, .string: text
        }
    }
}
