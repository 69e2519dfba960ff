import Foundation

/// The header's field `Retry-After` of RFC 9110, section 10.2.3.
enum RetryAfter {
    /// The longest pause: neither a wrong clock nor an absurd time stops an app for longer.
    static let maxPause = Duration.seconds(24 * 3600)

    /// How long to wait.
    ///
    /// - Parameters:
    ///   - text: The field's value: a number of seconds, or a time such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///   - now: The time of the device.
    /// - Returns: From zero to ``maxPause``; nil if the text is neither.
    static func pause(_ text: String, at now: Date = Date()) -> Duration? {
        let text = text.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return Int(text).map { min(.seconds($0), maxPause) } ?? maxPause
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: text) else { return nil }
        return min(max(.seconds(date.timeIntervalSince(now)), .zero), maxPause)
    }
}
