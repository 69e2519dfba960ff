import ArgumentParser
import Encodings
import FoundationEssentials

/// How a command's result is printed.
struct OutputOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print JSON instead of a table.")
    var isJSON = false

    /// Prints a result, as JSON or as a text.
    func print(_ result: some Encodable, text: () -> String) throws {
        guard isJSON else { return Swift.print(text()) }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        Swift.print(Self.visible(String(decoding: try encoder.encode(result), as: UTF8.self)))
    }

    /// The same JSON with invisible and control characters escaped, since a terminal would obey them.
    ///
    /// Outside of strings there are only line ends.
    private static func visible(_ json: String) -> String {
        json.unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.isInvisible, scalar != "\n" else { return text.unicodeScalars.append(scalar) }
            for unit in scalar.utf16 { text += "\\u" + String(0x1_0000 + Int(unit), radix: 16).dropFirst() }
        }
    }
}

/// Texts in the cells of tables.
enum Cell {
    /// A date to the minute in UTC, such as `2026-11-22 10:00Z`.
    static func date(_ date: Date?) -> String {
        date.map { "\(time($0).prefix(16))Z" } ?? ""
    }

    /// A date to the second in UTC, such as `2026-11-22 10:00:00Z`.
    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(dateTimeSeparator: .space))
    }

    /// A text that people typed, without characters that move a terminal's cursor or change its direction.
    static func text(_ text: String?) -> String {
        let scalars = (text ?? "").unicodeScalars.map { scalar in
            scalar.isInvisible ? "?" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    /// Whether it can move a terminal's cursor, or change the direction of the text behind it.
    fileprivate var isInvisible: Bool { isControl || properties.generalCategory == .format }
}
