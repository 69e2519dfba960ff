import FoundationEssentials

/// A signing date in the two spellings of Signature Version 4, both in UTC.
struct SigningTime: Sendable, Hashable {
    /// For `X-Amz-Date`: `20130524T000000Z`.
    let timestamp: String

    init(_ date: Date) {
        timestamp = date.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        )
    }

    /// For the credential's scope: `20130524`.
    var day: String { String(timestamp.prefix(8)) }
}
