package import FoundationEssentials

/// The time during which a presigned URL works.
///
/// It lasts from the start of an hour to the end of the next hour. So all requests within an hour get the same URL, and
/// it works for another hour at least.
package struct PresignedWindow: Equatable {
    /// The signing date.
    package let start: Date
    /// From the signing date on.
    package let seconds: Int

    private static let windowSeconds = 3600

    /// - Parameters:
    ///   - date: The present.
    ///   - end: The latest end of the URL; later than the present.
    package init(at date: Date, endingBy end: Date) {
        let window = TimeInterval(Self.windowSeconds)
        start = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / window).rounded(.down) * window)
        seconds = max(1, min(2 * Self.windowSeconds, Int(end.timeIntervalSince(start))))
    }

    var end: Date { start + TimeInterval(seconds) }
}
