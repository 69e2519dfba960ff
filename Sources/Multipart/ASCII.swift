import Algorithms

/// The bytes with a meaning in multipart bodies and their headers.
enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    static let dash = UInt8(ascii: "-")
    static let colon = UInt8(ascii: ":")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")
    static let backslash = UInt8(ascii: "\\")
}

extension UInt8 {
    /// Whether this is a space or a tab, the only white space that a header line or padding may hold.
    var isBlank: Bool {
        self == ASCII.space || self == ASCII.tab
    }

    /// Whether this is a C0 control character or DEL.
    var isControl: Bool {
        self < 0x20 || self == 0x7F
    }

    /// Whether this may stand in a token: RFC 9110, section 5.6.2.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        // From "^" on, the table has "_", "`" and the small letters without a gap.
        case UInt8(ascii: "^")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.|~".utf8.contains(self)
        }
    }
}

extension Collection<UInt8> {
    /// Whether this is a token as header names and parameter names must be: RFC 9110, section 5.6.2.
    var isToken: Bool {
        !isEmpty && allSatisfy(\.isTokenCharacter)
    }
}

extension ArraySlice<UInt8> {
    /// These bytes without the spaces and tabs at both ends.
    var trimmed: ArraySlice<UInt8> {
        trimming(while: \.isBlank)
    }
}
