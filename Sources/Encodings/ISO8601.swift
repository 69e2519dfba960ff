package import FoundationEssentials

/// Times as ISO 8601 writes them, such as `2026-11-22T10:00:00Z`.
package enum ISO8601 {
    /// The time of a text, with or without fractions of a second; nil for any other text.
    package static func date(_ text: String) -> Date? {
        // This style reads both.
        try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension Date {
    /// The date as clients parse it: `2026-11-21T08:06:03.123Z`.
    package var contractText: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
