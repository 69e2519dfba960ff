import FoundationEssentials

/// A JSON text, read from a column of type `json` or `jsonb`.
package struct PostgresJSON: Sendable, Equatable {
    /// The text as UTF-8.
    ///
    /// The server or `decode` checks that it is JSON.
    package let utf8: [UInt8]

    package init(utf8: [UInt8]) {
        self.utf8 = utf8
    }

    /// Writes a value as JSON, with its keys in order, so that equal values give equal texts.
    ///
    /// - Throws: `EncodingError` when the value has no form in JSON.
    package init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        utf8 = Array(try encoder.encode(value))
    }

    /// Reads a value from the text.
    ///
    /// - Parameter type: The value's type.
    /// - Returns: The value.
    /// - Throws: `DecodingError` when the text is not JSON or holds something else.
    package func decode<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(utf8))
    }
}

extension PostgresJSON: PostgresEncodable {
    /// The text as `json`: a column of that type keeps it as it is.
    ///
    /// As `jsonb` its keys would be reordered. A `jsonb` column takes `json`, too. In an expression write the cast:
    /// `\(value)::jsonb`.
    package var postgresValue: PostgresValue { PostgresValue(type: .json, bytes: utf8) }
}

extension PostgresJSON: PostgresDecodable {
    package static func canDecode(_ type: PostgresType) -> Bool {
        switch type {
        case .json, .jsonb: true
        default: false
        }
    }

    package init(postgresBytes: ArraySlice<UInt8>, type: PostgresType) throws(UnreadableCell) {
        var text = postgresBytes
        // The only version of jsonb's binary format, which is the text after it (`jsonb_send` in `utils/adt/jsonb.c`).
        if type == .jsonb, text.popFirst() != 1 { throw .malformed }
        guard !text.isEmpty, String(validating: text, as: UTF8.self) != nil else { throw .malformed }
        utf8 = Array(text)
    }
}
