import Foundation

/// The one form of date that today's servers send: `Fri, 24 May 2013 00:00:00 GMT`.
///
/// Source: RFC 9110, section 5.6.7, "IMF-fixdate".
enum HTTPDate {
    /// The instant, or nil for anything else.
    static func parse(_ text: String) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let day = Int(parts[1]), let month = months.firstIndex(of: parts[2]), let year = Int(parts[3])
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, (1...31).contains(day), (1...9999).contains(year),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }

        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(
                year: year,
                month: month + 1,
                day: day,
                hour: time[0],
                minute: time[1],
                second: time[2]
            )
        )
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
