/// A text with placeholders for what has changed: `{collection}`, `{owner.first_name}`, or a field such as `{title}`.
package struct PushText: Sendable, Equatable {
    package let text: String

    /// The most characters of a text, before and after it is filled.
    package static let maxCharacters = 200

    package init(_ text: String) { self.text = text }

    /// Whether it may name a field.
    var hasPlaceholders: Bool { text.contains("{") }

    /// What placeholders stand for.
    struct Values: Sendable {
        let collection: String
        /// Empty where contents are not to leave the service.
        var fields: [String: String] = [:]
        var ownerFirstName: String?
    }

    /// Fills the placeholders, in one pass: a value can't be taken for a placeholder.
    ///
    /// What has no value leaves nothing, nor a double space.
    ///
    /// - Returns: The text; nil when nothing is left.
    func filled(with values: Values) -> String? {
        var (filled, rest) = ("", text[...])
        while let begin = rest.firstIndex(of: "{"), let end = rest[begin...].firstIndex(of: "}") {
            filled += rest[..<begin]
            filled += Self.value(of: rest[rest.index(after: begin)..<end], values)
            rest = rest[rest.index(after: end)...]
        }
        let words = (filled + rest).split { $0.isWhitespace }
        if words.isEmpty { return nil }
        let scalars = words.joined(separator: " ").unicodeScalars
        guard scalars.count > Self.maxCharacters else { return String(String.UnicodeScalarView(scalars)) }
        return String(String.UnicodeScalarView(scalars.prefix(Self.maxCharacters - 1))) + "…"
    }

    private static func value(of placeholder: Substring, _ values: Values) -> String {
        switch placeholder {
        case "collection": values.collection
        case "owner.first_name": values.ownerFirstName ?? ""
        // A field may have 64 KiB, and be named often.
        default: values.fields[String(placeholder)].map { String($0.unicodeScalars.prefix(maxCharacters + 1)) } ?? ""
        }
    }
}
