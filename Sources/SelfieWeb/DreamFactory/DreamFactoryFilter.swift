import Encodings
import JSON
import RecordSchema

/// A filter as clients of DreamFactory send it: a part of SQL's conditions.
///
/// It is `field = value`, with `<`, `<=`, `>`, `>=`, `IN (…)`, `LIKE 'beginning%'` and `IS NULL` too, and `AND` between several.
/// Values are numbers, texts between quotes, `true` and `false`. Source: DreamFactory, "Database Services: Retrieving Records".
struct DreamFactoryFilter: Equatable {
    /// What is asked of each field: a word of ``FieldCondition/words``, and its value.
    private(set) var tests: [Test] = []

    struct Test: Equatable {
        let field: String
        let word: String
        let value: JSONValue
    }

    /// A filter, or a part of it, that no list of records can be asked for.
    struct Unsupported: Error, Equatable {
        /// What it is, such as `OR`; nil for a filter that ends too early.
        let part: String?
    }

    /// The most characters of a filter.
    static let maxCharacters = 4_096

    /// - Parameter text: The filter.
    /// - Throws: ``Unsupported``.
    init(_ text: String) throws(Unsupported) {
        var tokens = Tokens(text)
        try readConditions(&tokens, depth: 0)
        if let token = try tokens.next() { throw Unsupported(part: token.text) }
    }

    private static let maxDepth = 16

    private mutating func readConditions(_ tokens: inout Tokens, depth: Int) throws(Unsupported) {
        repeat {
            if try tokens.take("(") {
                guard depth < Self.maxDepth else { throw Unsupported(part: "(") }
                try readConditions(&tokens, depth: depth + 1)
                try tokens.require(")")
            } else {
                try readTest(&tokens)
            }
        } while try tokens.take("AND")
    }

    private mutating func readTest(_ tokens: inout Tokens) throws(Unsupported) {
        let name = try tokens.require()
        guard case .name(let field) = name, !Tokens.words.contains(field.uppercased()) else {
            throw Unsupported(part: name.text)
        }
        let comparison = try tokens.require()
        switch comparison.keyword {
        case "=", "<", "<=", ">", ">=":
            tests.append(Test(field: field, word: comparison.text, value: try Self.value(&tokens)))
        case "IN":
            try tokens.require("(")
            var values: [JSONValue] = []
            repeat { values.append(try Self.value(&tokens)) } while try tokens.take(",")
            try tokens.require(")")
            tests.append(Test(field: field, word: "in", value: .array(values)))
        case "LIKE": tests.append(try Self.beginning(of: field, &tokens))
        case "IS":
            try tokens.require("NULL")
            tests.append(Test(field: field, word: "=", value: .null))
        default: throw Unsupported(part: comparison.text)
        }
    }

    private static func value(_ tokens: inout Tokens) throws(Unsupported) -> JSONValue {
        let token = try tokens.require()
        switch (token, token.keyword) {
        case (.string(let text), _): return .string(text)
        case (.number(let digits), _): return .number(digits)
        case (_, "TRUE"): return true
        case (_, "FALSE"): return false
        default: throw Unsupported(part: token.text)
        }
    }

    /// A pattern of LIKE: a text without a wildcard, or with `%` at its end alone.
    private static func beginning(of field: String, _ tokens: inout Tokens) throws(Unsupported) -> Test {
        let token = try tokens.require()
        guard case .string(let pattern) = token else { throw Unsupported(part: token.text) }
        var (text, isEscaped, hasWildcard) = ("", false, false)
        for character in pattern.unicodeScalars {
            if hasWildcard || !isEscaped && character == "_" { throw Unsupported(part: "LIKE '\(pattern)'") }
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "%" where !isEscaped: hasWildcard = true
            default: text.unicodeScalars.append(character)
            }
            isEscaped = false
        }
        return Test(field: field, word: hasWildcard ? "prefix" : "=", value: .string(text))
    }
}

/// The words, values and signs of a filter.
private struct Tokens {
    /// What can't be a field's name.
    static let words: Set = ["AND", "OR", "NOT", "IN", "LIKE", "IS", "NULL", "BETWEEN", "TRUE", "FALSE"]

    enum Token: Equatable {
        case name(String)
        case number(String)
        case string(String)
        case sign(String)

        /// As it was sent, without quotes.
        var text: String {
            switch self {
            case .name(let text), .number(let text), .string(let text), .sign(let text): text
            }
        }

        /// A sign, or a word in capital letters; nil for a value.
        var keyword: String? {
            switch self {
            case .name(let text): text.uppercased()
            case .sign(let text): text
            case .number, .string: nil
            }
        }
    }

    private var rest: Substring.UnicodeScalarView
    private var peeked: Token?

    init(_ text: String) { rest = text.unicodeScalars[...] }

    /// The next one; nil at the end.
    mutating func next() throws(DreamFactoryFilter.Unsupported) -> Token? {
        if let token = peeked {
            peeked = nil
            return token
        }
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
        guard let first = rest.first else { return nil }
        switch first {
        case "'", "\"": return .string(try quoted())
        case "`":
            rest.removeFirst()
            let name = taken { $0 != "`" }
            guard rest.popFirst() != nil, !name.isEmpty else { throw .init(part: "`") }
            return .name(name)
        case "a"..."z", "A"..."Z", "_": return .name(taken { $0.isWordCharacter })
        case "0"..."9", "-": return .number(try number())
        case "<", ">", "!", "=": return .sign(taken { "<>!=".unicodeScalars.contains($0) })
        case "&", "|": return .sign(taken { $0 == first })
        default:
            rest.removeFirst()
            return .sign(String(first))
        }
    }

    /// Whether the next one is a sign or a word, which is taken then.
    mutating func take(_ keyword: String) throws(DreamFactoryFilter.Unsupported) -> Bool {
        guard let token = try next() else { return false }
        if token.keyword == keyword { return true }
        peeked = token
        return false
    }

    /// The next one, which must be there.
    mutating func require() throws(DreamFactoryFilter.Unsupported) -> Token {
        guard let token = try next() else { throw .init(part: nil) }
        return token
    }

    /// Takes the next one, which must be a sign or a word.
    mutating func require(_ keyword: String) throws(DreamFactoryFilter.Unsupported) {
        let token = try require()
        guard token.keyword == keyword else { throw .init(part: token.text) }
    }

    private mutating func taken(while isPart: (Unicode.Scalar) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(part)
    }

    private mutating func number() throws(DreamFactoryFilter.Unsupported) -> String {
        let digits = taken { "0123456789.eE+-".unicodeScalars.contains($0) }
        // JSON's numbers are those of SQL that matter here.
        guard case .number(let number)? = try? JSONValue.parse(digits.utf8) else { throw .init(part: digits) }
        return number
    }

    /// A text between quotes.
    ///
    /// Within it, a quote is written twice or after a backslash. Other backslashes stay: LIKE has a meaning for them.
    private mutating func quoted() throws(DreamFactoryFilter.Unsupported) -> String {
        let quote = rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            if next == "\\", let escaped = rest.first, escaped == quote || escaped == "\\" {
                text.append(rest.removeFirst())
            } else if next != quote {
                text.append(next)
            } else if rest.first == quote {
                text.append(rest.removeFirst())
            } else {
                return String(text)
            }
        }
        throw .init(part: String(quote))
    }
}

extension Unicode.Scalar {
    fileprivate var isWordCharacter: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
