import Encodings
package import FoundationEssentials

/// A time of RFC 3339, such as `2026-11-24T10:00:00.5Z` or `2026-11-24T12:00:00+02:00`.
package struct Timestamp: Sendable, Equatable {
    /// Since 1970, in UTC.
    ///
    /// Smaller parts are cut off.
    package let milliseconds: Int

    /// The time as a date.
    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    private static let maxDecimalCount = 9

    /// - Parameter milliseconds: Since 1970, in UTC.
    package init(milliseconds: Int) {
        self.milliseconds = milliseconds
    }

    /// - Parameter text: The text, with capital letters, and at most nine decimals of a second.
    package init?(_ text: String) {
        let text = Array(text.utf8)
        let whole = text.prefix("0000-00-00T00:00:00".utf8.count)
        var zone = text.dropFirst(whole.count)
        var decimals: ArraySlice<UInt8> = []
        if zone.first == UInt8(ascii: ".") {
            decimals = zone.dropFirst().prefix(while: \.isASCIIDigit)
            guard (1...Self.maxDecimalCount).contains(decimals.count) else { return nil }
            zone = zone[decimals.endIndex...]
        }
        // Foundation's parser takes other forms, too, and longer numbers. It reads decimals as binary fractions.
        guard Self.has(whole, form: "0000-00-00T00:00:00"),
            ["Z", "+00:00", "-00:00"].contains(where: { Self.has(zone, form: $0) }),
            let date = try? Date.ISO8601FormatStyle().parse(String(decoding: whole + zone, as: UTF8.self))
        else { return nil }
        let thousandths = (0..<3).reduce(0) { sum, digit in
            sum * 10 + (digit < decimals.count ? Int(decimals[decimals.startIndex + digit] - UInt8(ascii: "0")) : 0)
        }
        milliseconds = Int(date.timeIntervalSince1970) * 1000 + thousandths
    }

    /// Whether a text has a form, in which `0` stands for any digit.
    private static func has(_ text: ArraySlice<UInt8>, form: String) -> Bool {
        text.count == form.utf8.count
            && zip(form.utf8, text).allSatisfy { form, byte in
                form == UInt8(ascii: "0") ? byte.isASCIIDigit : form == byte
            }
    }
}

extension Timestamp {
    /// The time in UTC with three decimals, such as `2026-11-24T10:00:00.500Z`.
    package var text: String {
        let seconds = Date(timeIntervalSince1970: Double((milliseconds - thousandths) / 1000))
        let whole = Date.ISO8601FormatStyle().format(seconds).dropLast()
        let digits = String(thousandths)
        return "\(whole).\(String(repeating: "0", count: 3 - digits.count))\(digits)Z"
    }

    private var thousandths: Int { (milliseconds % 1000 + 1000) % 1000 }
}
