import Glibc
import Synchronization

/// The header `Date`, which changes once a second (RFC 9110, section 5.6.7).
enum HTTPDateHeader {
    private static let cached = Mutex((second: time_t(0), text: ""))

    /// The current time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func now() -> String {
        let now = time(nil)
        return cached.withLock { cached in
            if cached.second != now { cached = (now, text(of: now)) }
            return cached.text
        }
    }

    static func text(of time: time_t) -> String {
        var (time, parts) = (time, tm())
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func twoDigits(_ number: CInt) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = "\(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year)"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(date) \(clock) GMT"
    }
}
