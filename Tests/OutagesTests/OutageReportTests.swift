import Logging
import Synchronization
import TestSupport
import Testing

@testable import Outages

@Suite("Reports of outages")
struct OutageReportTests {
    @Test("Each begins once, is told again for another reason, and ends once")
    func changes() {
        let log = TestLog()
        let report = OutageReport(failing: "down", over: "up", logger: log.logger(level: .info))
        report.succeeded()
        for reason in ["a", "a", "b", "a"] { report.failed(reason) }
        report.succeeded()
        report.succeeded()
        report.failed("a")
        #expect(log.entries.count == 5)
        let expected = ["down error=a", "down error=b", "down error=a", "notice up", "down error=a"]
        for (entry, text) in zip(log.entries, expected) { #expect(entry.contains(text), "\(entry)") }
    }
}
