package import FoundationEssentials

/// For how long a URL straight to a bucket works.
///
/// It is the same for all who ask within an hour, and so is the URL. It counts from the hour's begin to the end of the
/// next, so it works for another hour at least.
package struct PresignedWindow: Equatable {
    /// The signing date.
    package let start: Date
    /// From the signing date on.
    package let seconds: Int

    private static let windowSeconds = 3600

    /// - Parameters:
    ///   - date: The present.
    ///   - end: When the URL must have ended; later than the present.
    package init(at date: Date, endingBy end: Date) {
        let window = TimeInterval(Self.windowSeconds)
        start = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / window).rounded(.down) * window)
        seconds = max(1, min(2 * Self.windowSeconds, Int(end.timeIntervalSince(start))))
    }

    var end: Date { start + TimeInterval(seconds) }
}
