import Encodings

/// A header value with parameters, such as `form-data; name="title"`, taken apart.
///
/// The grammar is RFC 9110, section 5.6.6, read generously. Blanks may stand around `=`. An unquoted value runs to the
/// next `;`. Empty parameters and those without `=` are passed over.
struct HeaderParameters {
    /// What a backslash inside quotes escapes.
    enum QuotedPairs {
        /// Whatever follows, as RFC 9110, section 5.6.4, has it.
        case all
        /// A quote or a backslash only.
        ///
        /// Some browsers send the path of a Windows file as it is: in `"C:\dir\a.png"` no backslash
        /// escapes anything.
        case quoteAndBackslash

        fileprivate func contains(_ byte: UInt8) -> Bool {
            self == .all || byte == ASCII.quote || byte == ASCII.backslash
        }
    }

    /// What stands before the first `;`.
    let value: ArraySlice<UInt8>

    private var parameters: [(name: String, value: [UInt8])] = []

    /// Takes a header value apart.
    ///
    /// - Parameters:
    ///   - field: The value, without the header's name.
    ///   - quotedPairs: What a backslash inside quotes escapes.
    /// - Throws: `MultipartError.malformedHeader`.
    init(_ field: some Sequence<UInt8>, quotedPairs: QuotedPairs) throws(MultipartError) {
        var rest = ArraySlice(field)
        value = rest.take { $0 != ASCII.semicolon }.trimmed
        while rest.popFirst() != nil {
            let name = rest.take { $0 != ASCII.semicolon && $0 != ASCII.equals }.trimmed
            guard rest.first == ASCII.equals else {
                guard name.isEmpty || name.isToken else { throw .malformedHeader }
                continue
            }
            guard name.isToken else { throw .malformedHeader }
            rest = rest.dropFirst().drop(while: \.isBlank)
            let value = try rest.takeParameterValue(quotedPairs)
            rest = rest.drop(while: \.isBlank)
            guard rest.isEmpty || rest.first == ASCII.semicolon else { throw .malformedHeader }
            parameters.append((name.asciiLowercased, value))
        }
    }

    /// The value of a parameter, unquoted; nil if there is none.
    ///
    /// A parameter that is given twice is an error if the values differ. Taking the first or the last would let two
    /// readers of one message see different things.
    ///
    /// - Parameters:
    ///   - name: The parameter's name in small letters.
    ///   - conflict: The error for values that differ.
    /// - Throws: `conflict`.
    /// - Returns: The bytes as sent, without quotes and escapes.
    func value(of name: String, ifConflicting conflict: MultipartError) throws(MultipartError) -> [UInt8]? {
        let values = parameters.lazy.filter { $0.name == name }.map(\.value)
        guard let first = values.first else { return nil }
        guard values.allSatisfy({ $0 == first }) else { throw conflict }
        return first
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func take(while matches: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = prefix(while: matches)
        self = self[taken.endIndex...]
        return taken
    }

    fileprivate mutating func takeParameterValue(
        _ quotedPairs: HeaderParameters.QuotedPairs
    ) throws(MultipartError) -> [UInt8] {
        guard first == ASCII.quote else {
            let value = take { $0 != ASCII.semicolon }.trimmed
            // A quote in here leaves open where the value ends, if a `;` follows.
            guard !value.contains(ASCII.quote) else { throw .malformedHeader }
            return Array(value)
        }
        removeFirst()
        var value: [UInt8] = []
        while let byte = popFirst() {
            if byte == ASCII.quote { return value }
            if byte == ASCII.backslash, let escaped = first, quotedPairs.contains(escaped) {
                value.append(escaped)
                removeFirst()
            } else {
                value.append(byte)
            }
        }
        throw .malformedHeader
    }
}
