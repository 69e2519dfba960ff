import Logging
import Synchronization
import TestSupport
import Testing

@testable import Outages

@Suite("Reports of outages")
struct OutageReportTests {
    @Test("Each is logged once, again for another reason, and once at its end")
    func changes() {
        let log = TestLog()
        let report = OutageReport(failing: "down", over: "up", logger: log.logger(level: .info))
        report.succeeded()
        for reason in ["a", "a", "b", "a"] { report.failed(reason) }
        report.succeeded()
        report.succeeded()
        report.failed("c")
        #expect(log.entries.count == 5)
        let expected = ["down error=a", "down error=b", "down error=a", "notice up", "down error=c"]
        for (entry, text) in zip(log.entries, expected) { #expect(entry.contains(text), "\(entry)") }
    }

    @Test("A reason that always differs is logged once for its kind")
    func kinds() {
        let log = TestLog()
        let report = OutageReport(failing: "down", over: "up", logger: log.logger(level: .info))
        for number in 1...3 { report.failed("request \(number)", kind: "refused") }
        report.failed("request 4", kind: "unavailable")
        #expect(log.entries.map { $0.contains("request 1") || $0.contains("request 4") } == [true, true])
    }

    @Test("One that recurs is logged again only after a minute")
    func comesAndGoes() {
        let (recorder, clock) = (Recorder(), ManualTime())
        let report = OutageReport(
            clock: clock,
            onChange: { change in recorder.changes.withLock { $0.append(change) } }
        )
        for _ in 0..<30 {
            report.failed("a")
            report.succeeded()
            clock.advance(by: .seconds(1))
        }
        #expect(recorder.changes.withLock { $0 } == [.failing(reason: "a"), .over])
        clock.advance(by: .seconds(30))
        report.failed("a")
        #expect(recorder.changes.withLock { $0 } == [.failing(reason: "a"), .over, .failing(reason: "a")])
    }

    @Test("Work that was interrupted has neither failed nor worked", .timeLimit(.minutes(1)), arguments: [true, false])
    func interrupted(throwing: Bool) async {
        let log = TestLog()
        let report = OutageReport(failing: "down", over: "up", logger: log.logger(level: .info))
        report.failed("a")
        let work = Task {
            await report.watch {
                try? await Task.sleep(for: .seconds(60))
                if throwing { throw CancellationError() }
            }
        }
        work.cancel()
        _ = await work.result
        #expect(log.entries.count == 1, "\(log.entries)")
    }

    private final class Recorder: Sendable {
        let changes = Mutex<[OutageReport.Change]>([])
    }
}
