import Foundation
import Testing

@testable import SelfieClient

@Suite("Times")
struct TimeTests {
    @Test("A time that was read is written as it was, to the millisecond")
    func milliseconds() throws {
        for millisecond in 0..<1000 {
            let digits = "00\(millisecond)".suffix(3)
            for second in ["1969-12-31T23:59:59", "2026-11-28T11:07:43", "2099-01-01T00:00:00"] {
                let text = "\(second).\(digits)Z"
                #expect(JSONCoding.text(of: try #require(JSONCoding.date(of: text))) == text)
            }
        }
    }

    @Test("Fractions of a millisecond are rounded, and other forms are read")
    func forms() throws {
        let rounded = Date(timeIntervalSince1970: 1_795_000_000.9996)
        #expect(JSONCoding.text(of: rounded) == "2026-11-18T11:06:41.000Z")
        #expect(JSONCoding.date(of: "2026-11-18T12:06:41+01:00") == JSONCoding.date(of: "2026-11-18T11:06:41.000Z"))
        #expect(JSONCoding.date(of: "yesterday") == nil)
    }
}
