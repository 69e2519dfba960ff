import Encodings

/// The text of a `name` or `filename` parameter as browsers write it.
///
/// The WHATWG's HTML standard ("Multipart form data", the encoding of names) has browsers write `"`, CR and LF as
/// `%22`, `%0D` and `%0A`. They leave `%` alone, so the encoding can't be undone for certain. `%22` is undone: a quote
/// is far likelier than a file named `%22`. The line ends are not: a name with line breaks only does harm.
///
/// - Parameter bytes: The parameter's value, unquoted.
/// - Returns: The text, with U+FFFD for what is not UTF-8.
func decodedFormValue(_ bytes: [UInt8]) -> String {
    let encodedQuote: [UInt8] = Array("%22".utf8)
    var decoded: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.first {
        let isQuote = rest.starts(with: encodedQuote)
        decoded.append(isQuote ? ASCII.quote : byte)
        rest = rest.dropFirst(isQuote ? encodedQuote.count : 1)
    }
    return String(decoding: decoded, as: UTF8.self)
}

/// The text of an extended parameter such as `filename*`: `UTF-8'en'na%C3%AFve.png`.
///
/// RFC 8187, section 3.2. It knows one charset, UTF-8, and asks readers to ignore what they cannot
/// decode.
///
/// - Parameter bytes: The parameter's value.
/// - Returns: The text, with U+FFFD for what is not UTF-8; nil for another charset or a broken escape.
func decodedExtendedValue(_ bytes: [UInt8]) -> String? {
    let pieces = bytes.split(separator: ASCII.apostrophe, maxSplits: 2, omittingEmptySubsequences: false)
    guard pieces.count == 3, pieces[0].asciiLowercased == "utf-8" else { return nil }
    return PercentEncoding.bytes(of: pieces[2]).map { String(decoding: $0, as: UTF8.self) }
}
