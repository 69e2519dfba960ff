import Foundation
import Glibc
import Testing

@testable import PhotoService

@Suite("The header Date")
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

    @Test("It is the present time")
    func present() {
        let before = time(nil)
        let text = HTTPDate.now()
        #expect((before...time(nil)).contains { HTTPDate.text(of: $0) == text })
    }
}
