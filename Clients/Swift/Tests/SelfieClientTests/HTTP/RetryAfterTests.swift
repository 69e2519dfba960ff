import Foundation
import Testing

@testable import SelfieClient

@Suite("Retry-After")
struct RetryAfterTests {
    /// 1994-11-06T08:49:37Z, the example of RFC 9110.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "A number of seconds or a time is a pause from zero to a day",
        arguments: [
            ("0", Duration.zero), ("120", .seconds(120)), (" 7 ", .seconds(7)), ("86401", .seconds(86_400)),
            ("99999999999999999999", .seconds(86_400)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
            ("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)), ("Sun, 06 Nov 1994 08:49:00 GMT", .zero),
            ("Mon, 07 Nov 1994 00:00:00 GMT", .seconds(54_623)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(86_400)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", .zero),
        ]
    )
    func pause(text: String, expected: Duration) {
        #expect(RetryAfter.pause(text, at: Self.now) == expected)
    }

    @Test("Anything else is none", arguments: ["", "soon", "-1", "1.5", "+3", "1994-11-06T08:49:37Z", "\u{663}"])
    func none(text: String) {
        #expect(RetryAfter.pause(text, at: Self.now) == nil)
    }

    @Test("The time of an answer is measured by the device's clock")
    func answer() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let time = formatter.string(from: Date(timeIntervalSinceNow: 600))
        let error = SelfieError.of(.refusal(503, "service_unavailable", headers: ["Retry-After": time]))
        let pause = try #require(error.retryAfter)
        #expect(pause > .seconds(590) && pause <= .seconds(600))
    }
}
