import Encodings

/// Reads `application/x-www-form-urlencoded` text from a body or a query.
///
/// `&` or `;` separates pairs, as in Rack 1.5. A name without `=` has no value. `+` is a space. The last of several
/// values counts. Source: WHATWG URL, section 5.1 "application/x-www-form-urlencoded parsing".
enum FormParameters {
    /// The most pairs that a form may have.
    static let maxPairCount = 256

    /// Decodes all pairs.
    ///
    /// - Parameter text: The encoded form.
    /// - Returns: Values by name.
    /// - Throws: `ServiceError.malformedParameters` for a `%` without two digits or bytes that are not UTF-8,
    ///   `.unfitName`, `.tooManyParameters` beyond `maxPairCount`.
    static func parse(_ text: some Collection<UInt8>) throws(ServiceError) -> [String: String] {
        var values: [String: String] = [:]
        let pairs = text.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }
        guard pairs.count <= maxPairCount else { throw .tooManyParameters }
        for pair in pairs {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let hasValue = name.count < pair.count
            let decodedName = try decode(name)
            guard decodedName.isFitName else { throw .unfitName }
            values[decodedName] = hasValue ? try decode(pair.dropFirst(name.count + 1)) : nil
        }
        return values
    }

    private static func decode(_ encoded: some Collection<UInt8>) throws(ServiceError) -> String {
        guard let bytes = PercentEncoding.bytes(of: encoded, plusIsSpace: true),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .malformedParameters }
        return text
    }
}
