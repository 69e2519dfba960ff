import Cryptography
import Encodings
package import JSON

/// A value as indexes have it: two values are equal if and only if their texts are.
package struct IndexValue: Sendable, Hashable {
    /// A letter for the kind, and the value.
    ///
    /// Long values are SHA-256 digests, so there are at most 65 bytes.
    package let text: String

    private static let maxLength = 64

    /// - Parameters:
    ///   - value: The value. One that is missing counts as `null`.
    ///   - type: The type of its field; nil when that is not described.
    package init(_ value: JSONValue, of type: FieldType?) {
        let (kind, content): (Character, String) =
            switch (value, type) {
            case (.null, _): ("0", "")
            case (.boolean(let flag), _): ("b", flag ? "1" : "0")
            case (.number(let digits), _): ("n", DecimalNumber(digits).canonicalText)
            case (.string(let text), .timestamp): ("t", Timestamp(text).map { "\($0.milliseconds)" } ?? text)
            case (.string(let text), _): ("s", text)
            case (.array, _), (.object, _): ("j", value.text)
            }
        let text = "\(kind)\(content)"
        // PostgreSQL's text can't hold NUL. `where` may ask for one, and finds nothing.
        let isPlain = text.utf8.count <= Self.maxLength && !text.utf8.contains(0)
        self.text = isPlain ? text : "h" + SHA256.hash(Array(text.utf8)).withUnsafeBytes { $0.hexadecimal }
    }
}
