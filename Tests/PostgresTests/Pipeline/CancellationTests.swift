import Testing

@testable import Postgres

@Suite("When the server is asked to cancel")
struct CancellationTests {
    private let start = ContinuousClock.now

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test("Not before the statement has run for 20 milliseconds; then every quarter of a second")
    func pauses() {
        var cancellation = Cancellation()
        #expect(cancellation.nextDeadline(runningSince: start) == after(20))
        #expect(cancellation.due(runningSince: start, now: after(19)) == .nothing)
        #expect(cancellation.due(runningSince: start, now: after(20)) == .send)
        #expect(cancellation.isBeingSent)
        // One request at a time.
        #expect(cancellation.due(runningSince: start, now: after(500)) == .nothing)
        #expect(cancellation.nextDeadline(runningSince: start) == after(2_020))
        cancellation.sent(now: after(600))
        #expect(!cancellation.isBeingSent)
        #expect(cancellation.nextDeadline(runningSince: start) == after(850))
        #expect(cancellation.due(runningSince: start, now: after(849)) == .nothing)
        #expect(cancellation.due(runningSince: start, now: after(850)) == .send)
    }

    @Test("The connection is given up two seconds after the first request, also while one is being sent")
    func givingUp() {
        var cancellation = Cancellation()
        #expect(cancellation.due(runningSince: start, now: after(20)) == .send)
        #expect(cancellation.due(runningSince: start, now: after(2_019)) == .nothing)
        #expect(cancellation.due(runningSince: start, now: after(2_020)) == .giveUp)
        cancellation.sent(now: after(2_020))
        #expect(cancellation.due(runningSince: start, now: after(2_020)) == .giveUp)
    }

    @Test("Requests for one statement say nothing about the next")
    func nextStatement() {
        var cancellation = Cancellation()
        #expect(cancellation.due(runningSince: start, now: after(20)) == .send)
        cancellation.sent(now: after(30))
        let next = after(1_900)
        #expect(cancellation.nextDeadline(runningSince: next) == after(1_920))
        #expect(cancellation.due(runningSince: next, now: after(1_919)) == .nothing)
        #expect(cancellation.due(runningSince: next, now: after(1_920)) == .send)
        cancellation.sent(now: after(1_920))
        #expect(cancellation.due(runningSince: next, now: after(3_919)) == .send)
        #expect(cancellation.due(runningSince: next, now: after(3_920)) == .giveUp)
    }
}
