import Algorithms
import FoundationEssentials
import HTTPTypes

/// Reads the header `Authorization` in all the forms that Rails accepted.
enum AuthorizationHeader {
    /// The header's value; several in one request are joined by commas (RFC 9110, section 5.3).
    static func value(in headers: HTTPFields) -> String? {
        // Joining is slow, even if there is nothing to join.
        let first = headers.firstIndex { $0.name == .authorization }
        guard let first, headers.lastIndex(where: { $0.name == .authorization }) == first else {
            return headers[.authorization]
        }
        return headers[first].value
    }

    /// The halves of `Basic <base64 of name:password>`; nil when the header's value has another form.
    ///
    /// The scheme may be in any case with any number of spaces after it. The base64 may be padded or not. The first
    /// colon splits (RFC 7617, section 2).
    static func basicCredential(in value: String) -> (name: String, password: String)? {
        guard let encoded = parameters(of: value, scheme: "basic") else { return nil }
        var digits = Data(encoded)
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        digits.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - digits.count % 4) % 4))
        guard
            let decoded = Data(base64Encoded: digits),
            let text = String(validating: decoded, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// The token in a request's header; nil when there is none.
    static func token(in headers: HTTPFields) -> String? {
        value(in: headers).flatMap(token)
    }

    /// The token of a header's value, never blank; nil when there is none.
    ///
    /// The forms are `Token token=x`, `Token token="x"`, `Token x`, `Token "x"` and `Bearer x`. The first two may have
    /// more parameters after `,` or `;`.
    static func token(in value: String) -> String? {
        guard let parameters = parameters(of: value, scheme: "token") ?? parameters(of: value, scheme: "bearer") else {
            return nil
        }
        var token = trimmed(parameters.prefix { !isSeparator($0) })
        if token.starts(with: "token=".utf8) { token = trimmed(token.dropFirst("token=".utf8.count)) }
        if token.first == quote { token = token.dropFirst().prefix { $0 != quote } }
        let text = String(Substring(token))
        return text.allSatisfy(\.isWhitespace) ? nil : text
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "\t")
    }

    private static let quote = UInt8(ascii: "\"")

    private static func parameters(of value: String, scheme: String) -> Substring.UTF8View? {
        let value = trimmed(value[...].utf8)
        let found = value.prefix { $0 != UInt8(ascii: " ") }
        // Setting this bit makes a letter small. No other byte becomes a letter of these schemes.
        guard found.elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 }), found.endIndex < value.endIndex else {
            return nil
        }
        return trimmed(value[found.endIndex...])
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        text.trimming(while: isSpace)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}
