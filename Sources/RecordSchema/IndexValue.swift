import Cryptography
import Encodings
package import JSON

/// A value as indexes have it.
///
/// Two values are equal if and only if their texts are. Texts that are compared byte by byte have the order of the values:
/// `null`, `false` and `true`, arrays and objects, numbers, texts, times.
package struct IndexValue: Sendable, Equatable {
    /// A letter for the kind, and the value: at most 580 bytes.
    package let text: String

    /// The most characters of a value that are ordered; what is longer continues with its digest.
    package static let maxOrderedCharacters = 128

    /// - Parameters:
    ///   - value: The value. One that is missing counts as `null`.
    ///   - type: The type of its field; nil when that is not described.
    package init(_ value: JSONValue, of type: FieldType?) {
        switch (value, type) {
        case (.null, _): self.init(.null, "")
        case (.boolean(let flag), _): self.init(.boolean, flag ? "1" : "0")
        case (.number(let digits), _): self.init(DecimalNumber(digits))
        case (.string(let text), .timestamp):
            if let time = Timestamp(text) { self.init(time) } else { self.init(.text, text) }
        case (.string(let text), _): self.init(.text, text)
        case (.array, _), (.object, _): self.init(.json, value.text)
        }
    }

    /// A time.
    package init(_ time: Timestamp) {
        // All years of four digits have 16 digits then, from -62,167,219,200,000 on.
        self.init(.time, "\(time.milliseconds + 2_000_000_000_000_000)")
    }

    /// A number.
    ///
    /// Zero is `1`. Others have their sign, the power of ten above them in four digits, and their own digits. For negative
    /// ones, all digits are complements, and the end is greater than a digit.
    private init(_ number: DecimalNumber) {
        let digits = number.digits
        guard !digits.isEmpty else {
            self.init(.number, "1")
            return
        }
        let power = number.exponent.addingReportingOverflow(digits.utf8.count).partialValue
        let biased = max(-5_000, min(4_999, power)) + 5_000
        func padded(_ number: Int) -> String { String(String(10_000 + number).dropFirst()) }
        guard number.isNegative else {
            self.init(.number, "2\(padded(biased))\(digits)")
            return
        }
        let complement = String(decoding: digits.utf8.map { UInt8(ascii: "0") + UInt8(ascii: "9") - $0 }, as: UTF8.self)
        self.init(.number, "0\(padded(9_999 - biased))\(complement)~")
    }

    private init(_ kind: Kind, _ content: String) {
        let prefix = content.unicodeScalars.prefix(Self.maxOrderedCharacters)
        // PostgreSQL's text can't hold NUL. `where` may ask for one, and finds nothing.
        let isWhole = prefix.endIndex == content.unicodeScalars.endIndex && !content.utf8.contains(0)
        guard !isWhole else {
            text = "\(kind.rawValue)\(content)"
            return
        }
        let digest = SHA256.hash(Array(content.utf8)).withUnsafeBytes { $0.hexadecimal }
        text = "\(kind.rawValue)\(String(prefix.filter { $0.value != 0 }))\(digest)"
    }

    package static func == (one: Self, other: Self) -> Bool {
        // `String` takes composed and decomposed characters for equal.
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// The letters of kinds, in their order.
    fileprivate enum Kind: String {
        case null = "0"
        case boolean = "b"
        case json = "j"
        case number = "n"
        case text = "s"
        case time = "t"

        /// Less than all values of greater kinds, and greater than its own.
        var end: String {
            switch self {
            case .null: "1"
            case .boolean: "c"
            case .json: "k"
            case .number: "o"
            case .text: "t"
            case .time: "u"
            }
        }
    }

    fileprivate var kind: Kind? { text.first.flatMap { Kind(rawValue: String($0)) } }
}

/// A range of an index: from one text, to before another one.
package struct IndexRange: Sendable, Equatable {
    package private(set) var lower: String
    package private(set) var upper: String

    /// How a value is compared.
    package enum Comparison: String, Sendable, CaseIterable {
        case greater = ">"
        case notLess = ">="
        case less = "<"
        case notGreater = "<="
    }

    /// All values that compare so to a value, and are of its kind.
    ///
    /// Nil for values that have no order: `null`, `true`, `false`, arrays and objects.
    package init?(_ comparison: Comparison, _ value: IndexValue) {
        guard let kind = value.kind, [.number, .text, .time].contains(kind) else { return nil }
        // No text has a NUL, so this is the next one.
        let next = value.text + "\u{1}"
        (lower, upper) =
            switch comparison {
            case .greater: (next, kind.end)
            case .notLess: (value.text, kind.end)
            case .less: (kind.rawValue, value.text)
            case .notGreater: (kind.rawValue, next)
            }
    }

    /// All texts that begin with another one.
    ///
    /// - Parameter prefix: At most ``IndexValue/maxOrderedCharacters``.
    package init(prefix: String) {
        let kind = IndexValue.Kind.text
        lower = kind.rawValue + prefix
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Behind U+D7FF come surrogates, which are no characters.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            break
        }
        let end = String(String.UnicodeScalarView(scalars))
        upper = end.isEmpty ? kind.end : kind.rawValue + end
    }

    /// What is in another range, too.
    package mutating func intersect(_ other: IndexRange) {
        // Not as `String` compares, which takes composed and decomposed characters for equal.
        if lower.utf8.lexicographicallyPrecedes(other.lower.utf8) { lower = other.lower }
        if other.upper.utf8.lexicographicallyPrecedes(upper.utf8) { upper = other.upper }
    }
}
