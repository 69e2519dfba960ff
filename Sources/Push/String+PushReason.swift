import Encodings

extension String {
    /// A word of a provider's answer, as logs and metrics may have it: letters, digits and `_`, at most 64.
    var pushReason: String {
        String(decoding: utf8.filter { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }.prefix(64), as: UTF8.self)
    }
}
