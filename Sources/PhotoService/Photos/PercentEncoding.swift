/// What a URL's path segment may hold as it is, and the rest as `%` and two digits (RFC 3986, sections 2.1 and 3.3).
enum PercentEncoding {
    private static var digits: StaticString { "0123456789ABCDEF" }

    /// Appends a path segment.
    static func append(_ segment: UnsafeRawBufferPointer, to url: inout TextBuffer) {
        let digits = digits.utf8Start
        url.append(countMax: 3 * segment.count) { encoded in
            var count = 0
            for byte in segment {
                if isUnreserved(byte) {
                    encoded[count] = byte
                    count += 1
                } else {
                    encoded[count] = UInt8(ascii: "%")
                    encoded[count + 1] = digits[Int(byte >> 4)]
                    encoded[count + 2] = digits[Int(byte & 0x0F)]
                    count += 3
                }
            }
            return count
        }
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
