package import Foundation

/// Encoders and decoders as the service wants them: times are ISO 8601 in UTC with milliseconds.
package enum JSONCoding {
    package static func decode<Value: Decodable>(_: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = date(of: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is not a time.")
            }
            return date
        }
        return try decoder.decode(Value.self, from: data)
    }

    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(text(of: date))
        }
        return try encoder.encode(value)
    }

    /// The text of a time, rounded to milliseconds.
    ///
    /// - Returns: Such as `2026-11-21T08:06:03.123Z`.
    package static func text(of date: Date) -> String {
        let rounded = (date.timeIntervalSince1970 * 1000).rounded() / 1000
        // The format cuts off, and most milliseconds are no binary fraction: they lie a little above or below.
        let above = Date(timeIntervalSince1970: rounded + 0.000_1)
        return above.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// - Parameter text: A time with or without fractions of a second.
    /// - Returns: The time; nil if it is none.
    package static func date(of text: String) -> Date? {
        (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}

extension JSONValue {
    /// A value as the service gets it.
    init(encoding value: some Encodable) throws {
        self = try JSONCoding.decode(JSONValue.self, from: JSONCoding.encode(value))
    }
}
