/// What a URL's path segment may hold as it is, and the rest as `%` and two digits (RFC 3986, sections 2.1 and 3.3).
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Appends a path segment.
    static func append(_ segment: ArraySlice<UInt8>, to url: inout [UInt8]) {
        if segment.allSatisfy(isUnreserved) { return url.append(contentsOf: segment) }
        for byte in segment {
            if isUnreserved(byte) {
                url.append(byte)
            } else {
                url += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
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
