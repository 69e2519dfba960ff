import FoundationEssentials
import Testing

@testable import Encodings

@Suite("Times of ISO 8601")
struct ISO8601Tests {
    @Test(
        "They are read with and without fractions of a second",
        arguments: [
            ("1970-01-01T00:00:10Z", 10), ("1970-01-01T00:00:10.5Z", 10.5), ("1970-01-01T00:00:10.250Z", 10.25),
            ("1970-01-01T01:00:10+01:00", 10),
        ] as [(String, Double)]
    )
    func read(text: String, seconds: Double) throws {
        let date = try #require(ISO8601.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test("Another text is none", arguments: ["", "10", "yesterday", "1970-13-01T00:00:10Z", "1970-01-01"])
    func malformed(text: String) {
        #expect(ISO8601.date(text) == nil)
    }
}
