import Testing

@testable import Encodings

@Suite("Times as people write them")
struct TimeTextTests {
    @Test(
        "A number and a unit are seconds",
        arguments: [("0s", 0), ("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800)]
    )
    func read(text: String, seconds: Int) {
        #expect(TimeText.seconds(text, numbers: 0...90) == seconds)
    }

    @Test(
        "All else is none",
        arguments: ["", "m", "15", "15w", "1.5h", "-1s", "91s", " 1s", "1 s", "99999999999999999999d"]
    )
    func malformed(text: String) {
        #expect(TimeText.seconds(text, numbers: 0...90) == nil)
    }

    @Test("They are written with the largest unit that leaves no rest")
    func write() {
        #expect(
            [0, 59, 60, 90, 3_600, 86_400].map { TimeText.text(seconds: $0) }.dropFirst() == [
                "59s", "1m", "90s", "1h", "1d",
            ]
        )
    }
}
