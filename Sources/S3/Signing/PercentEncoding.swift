/// The percent encoding of Signature Version 4, AWS's `UriEncode`.
///
/// Foundation's character sets leave more characters alone than AWS does, and a signature over another spelling of
/// the same path is another signature.
enum PercentEncoding {
    /// A key as a path: every byte but the unreserved ones and `/` becomes `%XX`.
    static func path(_ text: String) -> String {
        encode(text, keepingSlashes: true)
    }

    /// A query's name or value: every byte but the unreserved ones becomes `%XX`.
    static func query(_ text: String) -> String {
        encode(text, keepingSlashes: false)
    }

    private static func encode(_ text: String, keepingSlashes: Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isUnreserved || (keepingSlashes && byte == UInt8(ascii: "/")) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 0x0F)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte is one of RFC 3986's unreserved characters (section 2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isASCIILetterOrDigit
        }
    }
}
