import Foundation
import Glibc
import Testing

@testable import Encodings

@Suite("Dates in headers")
struct HTTPDateTests {
    @Test(
        "It is written as RFC 9110 says",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_000_000_009, "Sun, 09 Sep 2001 01:46:49 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ]
    )
    func knownDates(seconds: Int, expected: String) {
        #expect(HTTPDate.text(of: seconds) == expected)
    }

    private static let present = 1_795_000_000

    @Test(
        "Each of the three forms is read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Thu, 31 Dec 2099 23:59:59 GMT", 4_102_444_799),
            ("Friday, 01-Jan-70 00:00:00 GMT", 3_155_760_000), ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800),
        ]
    )
    func read(text: String, seconds: Int) {
        #expect(HTTPDate.seconds(of: text, now: Self.present) == seconds)
    }

    @Test(
        "Other texts are not dates",
        arguments: [
            "", "0", "784111777", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Oct 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "\"abc\"",
        ]
    )
    func unreadable(text: String) {
        #expect(HTTPDate.seconds(of: text, now: Self.present) == nil)
    }

    @Test("What is written is read")
    func roundTrip() {
        for seconds in stride(from: 0, to: 4_000_000_000, by: 12_345_677) {
            #expect(HTTPDate.seconds(of: HTTPDate.text(of: seconds)) == seconds)
        }
    }
}
