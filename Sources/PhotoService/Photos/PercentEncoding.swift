/// What a URL's path segment may hold as it is, and the rest as `%` and two digits (RFC 3986, sections 2.1 and 3.3).
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes a path segment.
    static func pathSegment(_ segment: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if segment.allSatisfy(isUnreserved) { return segment }
        let encoded = segment.flatMap { byte in
            isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
        }
        return encoded[...]
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
