package import FoundationEssentials

/// A time of RFC 3339, such as `2026-11-24T10:00:00.5Z` or `2026-11-24T12:00:00+02:00`.
package struct Timestamp: Sendable, Equatable {
    /// Since 1970, in UTC.
    ///
    /// Smaller parts are cut off.
    package let milliseconds: Int

    /// The time as a date.
    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// - Parameter text: The text, whose year has four digits.
    package init?(_ text: String) {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard text.utf8.count <= 40, let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else {
            return nil
        }
        milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded(.down))
    }
}
