import Encodings

/// The settings of a file such as `.env`, and warnings about its lines.
///
/// It is read as other dotenv tools do: `KEY=value`, perhaps with `export` before it, quotes around the value, and a comment
/// after it. A value in single quotes is taken as it is. In double quotes, `\n`, `\r`, `\t`, `\"`, `\\` and `\$` are escapes.
/// Quoted values may have several lines. Variables are not expanded.
struct DotenvFile: Sendable, Equatable {
    /// The last value of each key.
    private(set) var values: [String: String] = [:]
    /// Sentences about lines, without a value.
    private(set) var warnings: [String] = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - contents: The whole text, with the line ends of any system.
    ///   - name: The file's name for the warnings.
    init(_ contents: String, name: String) {
        var rest = Substring(contents.replacing("\r\n", with: "\n"))
        var lineNumber = 1
        while !rest.isEmpty {
            let start = rest
            do {
                if let (key, value) = try Self.takeAssignment(&rest) {
                    if values.updateValue(value, forKey: key) != nil {
                        warnings.append("\(name), line \(lineNumber): \(key) is set twice; this value is used")
                    }
                }
            } catch {
                rest = start.drop { $0 != "\n" }
                warnings.append("\(name), line \(lineNumber) is ignored: \(error.rawValue)")
            }
            rest = rest.dropFirst()
            lineNumber += start[..<rest.startIndex].count { $0 == "\n" }
        }
    }

    private enum SyntaxError: String, Error {
        case noAssignment = "it is not KEY=value"
        case openQuote = "a quote is not closed"
        case afterQuote = "text follows the closing quote"
    }

    /// Reads to the end of the line, or of the last line of a quoted value.
    ///
    /// - Parameter rest: The text from the beginning of a line on. Afterwards it begins with a line end, or is empty.
    /// - Returns: nil for a line without a setting.
    /// - Throws: `SyntaxError` for a line that is malformed.
    private static func takeAssignment(_ rest: inout Substring) throws(SyntaxError) -> (key: String, value: String)? {
        skipSpaces(&rest)
        guard let first = rest.first, first != "\n", first != "#" else {
            skipLine(&rest)
            return nil
        }
        if let match = rest.prefixMatch(of: /export[ \t]+/) { rest = rest[match.range.upperBound...] }
        guard let match = rest.prefixMatch(of: /([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=/) else { throw .noAssignment }
        rest = rest[match.range.upperBound...]
        // The space after the equals sign may belong to a comment.
        var trimmed = rest
        skipSpaces(&trimmed)
        let value: String
        if let quote = trimmed.first, quote == "'" || quote == "\"" {
            rest = trimmed
            value = try takeQuoted(&rest, escapes: quote == "'" ? [:] : escapes)
        } else {
            value = takePlain(&rest)
        }
        return (String(match.1), value)
    }

    private static let escapes: [Character: Character] = [
        "n": "\n", "r": "\r", "t": "\t", "\"": "\"", "\\": "\\", "$": "$",
    ]

    private static func takeQuoted(
        _ rest: inout Substring,
        escapes: [Character: Character]
    ) throws(SyntaxError) -> String {
        let quote = rest.removeFirst()
        var value = ""
        while let character = rest.popFirst() {
            if character == quote {
                skipSpaces(&rest)
                guard rest.first == nil || rest.first == "\n" || rest.first == "#" else { throw .afterQuote }
                skipLine(&rest)
                return value
            }
            if character == "\\", let next = rest.first, let escaped = escapes[next] {
                rest.removeFirst()
                value.append(escaped)
            } else {
                value.append(character)
            }
        }
        throw .openQuote
    }

    /// As in a shell, `#` begins a comment only after a space.
    private static func takePlain(_ rest: inout Substring) -> String {
        let line = rest.prefix { $0 != "\n" }
        skipLine(&rest)
        let end = line.firstMatch(of: /[ \t]#/)?.range.lowerBound ?? line.endIndex
        return line[..<end].trimmingWhitespace()
    }

    private static func skipSpaces(_ rest: inout Substring) {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }

    private static func skipLine(_ rest: inout Substring) {
        rest = rest.drop { $0 != "\n" }
    }
}
