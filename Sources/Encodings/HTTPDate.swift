package import FoundationEssentials
package import Glibc

/// Dates as HTTP's headers have them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The text of a time, in seconds since 1970.
    package static func text(of time: time_t) -> String {
        var (time, parts) = (time, tm())
        gmtime_r(&time, &parts)
        let year = 1900 + parts.tm_year
        let digits = [parts.tm_mday, year / 100, year % 100, parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits)
        let date = "\(digits[0]) \(months[Int(parts.tm_mon)]) \(digits[1])\(digits[2])"
        return "\(days[Int(parts.tm_wday)]), \(date) \(digits[3]):\(digits[4]):\(digits[5]) GMT"
    }

    /// The time that a text means, in any of the three forms that a server must take; nil for anything else.
    ///
    /// - Parameters:
    ///   - text: Such as `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
    ///     `Sun Nov  6 08:49:37 1994`.
    ///   - now: The present, in seconds since 1970: a year of two digits is never more than 50 years after it.
    /// - Returns: Seconds since 1970.
    package static func seconds(of text: String, now: time_t = time(nil)) -> time_t? {
        // The rest compares characters, which is slow for some that are not ASCII.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = text.split { $0 == " " || $0 == "-" || $0 == "," }
        // The order is: name of the day, day, month, year, time. The oldest form has another.
        let isOldest = words.count == 5 && words[4].count == 4
        guard isOldest || (words.count == 6 && words[5] == "GMT") else { return nil }
        let (day, month, year) = isOldest ? (words[2], words[1], words[4]) : (words[1], words[2], words[3])
        let clock = (isOldest ? words[3] : words[4]).split(separator: ":", omittingEmptySubsequences: false)
        guard
            clock.count == 3, clock.allSatisfy({ $0.count == 2 }),
            let month = months.firstIndex(of: String(month)),
            let day = number(day, in: 1...31),
            let year = number(year, in: 0...9999),
            let hour = number(clock[0], in: 0...23),
            let minute = number(clock[1], in: 0...59),
            let second = number(clock[2], in: 0...60)
        else { return nil }
        return seconds(
            year: words[isOldest ? 4 : 3].count == 2 ? century(of: year, now: now) : year,
            month: month,
            day: day
        ).map { $0 + hour * 3600 + minute * 60 + second }
    }

    /// The instant that a text means, as above.
    ///
    /// - Parameter text: A date of a header.
    /// - Returns: nil for anything else.
    package static func date(of text: String) -> Date? {
        seconds(of: text).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    private static func seconds(year: Int, month: Int, day: Int) -> Int? {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
        let seconds = timegm(&parts)
        // `timegm` turns 31 February into a day of March.
        return Int(parts.tm_mday) == day ? seconds : nil
    }

    private static func century(of year: Int, now: time_t) -> Int {
        var (now, parts) = (now, tm())
        gmtime_r(&now, &parts)
        let present = Int(parts.tm_year) + 1900
        let guess = present / 100 * 100 + year
        return guess > present + 50 ? guess - 100 : guess
    }

    private static func number(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    private static func twoDigits(_ number: CInt) -> String { (number < 10 ? "0" : "") + String(number) }
}
