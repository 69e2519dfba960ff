/// RFC 3986's unreserved characters as they are, and the rest as `%` and two digits (sections 2.1 and 2.3).
///
/// AWS's Signature Version 4 calls it `UriEncode`. Foundation's character sets leave more characters alone, and a
/// signature over another spelling of a path is another signature.
package enum PercentEncoding {
    /// A text whose every byte of UTF-8 may stand in a URL's path segment, or in a header's extended value (RFC 8187).
    package static func string(of text: String) -> String {
        var encoded = TextBuffer(capacity: 3 * text.utf8.count)
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &encoded) }
        return encoded.string
    }

    /// A text as a path of several segments: its slashes stay as they are.
    package static func path(_ text: String) -> String {
        let slash = UInt8(ascii: "/")
        // Split by bytes: to Swift, a slash with a combining mark behind it is another character.
        return text.utf8.split(separator: slash, omittingEmptySubsequences: false)
            .map { string(of: String(Substring($0))) }.joined(separator: "/")
    }

    /// The text that a path segment means; nil for one that is not well-formed.
    package static func decoded(_ segment: String) -> String? {
        // Most ids hold nothing to decode.
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
        return bytes(of: segment.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes that an encoded text means.
    ///
    /// - Parameters:
    ///   - encoded: The text.
    ///   - plusIsSpace: Whether `+` means a space, as in a form.
    /// - Returns: The bytes; nil for a `%` without two digits.
    package static func bytes(of encoded: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexadecimalDigit, let low = rest.next()?.hexadecimalDigit else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static var digits: StaticString { "0123456789ABCDEF" }

    /// Appends a path segment.
    package static func append(_ segment: UnsafeRawBufferPointer, to url: inout TextBuffer) {
        // Ids are random letters, and a processor would often predict a branch for each letter wrongly.
        if segment.reduce(1, { $0 & unreservedBit($1) }) == 1 { return url.append(segment) }
        let digits = digits.utf8Start
        url.append(maxCount: 3 * segment.count) { encoded in
            var count = 0
            for byte in segment {
                if unreservedBit(byte) == 1 {
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

    /// 1 for letters, digits, `-`, `.`, `_` and `~`, which have a bit each in one of two words, and 0 for the rest.
    private static func unreservedBit(_ byte: UInt8) -> UInt64 {
        let bits: UInt64 = byte < 64 ? 0x03FF_6000_0000_0000 : byte < 128 ? 0x47FF_FFFE_87FF_FFFE : 0
        return bits &>> UInt64(byte & 63) & 1
    }
}
