import Testing

@testable import Postgres

@Suite("Pauses between attempts to connect")
struct BackOffTests {
    @Test("They double from 50 milliseconds to the longest, however many attempts fail")
    func pauses() {
        var backOff = BackOff(longest: .seconds(1))
        var now = ContinuousClock.now
        #expect(backOff.allowsAttempt(now: now) && !backOff.isFailing && backOff.nextAttempt == nil)
        for pause in [50, 100, 200, 400, 800] + Array(repeating: 1_000, count: 100) {
            backOff.failed(now: now, jitter: 0)
            #expect(backOff.isFailing)
            #expect(backOff.nextAttempt == now + .milliseconds(pause))
            #expect(!backOff.allowsAttempt(now: now + .milliseconds(pause - 1)))
            now += .milliseconds(pause)
            #expect(backOff.allowsAttempt(now: now))
        }
    }

    @Test("A random part of up to half is left out, so that not all clients come back at once")
    func jitter() {
        let now = ContinuousClock.now
        for (jitter, pause) in [(0.0, 50), (0.5, 37.5), (1.0, 25)] as [(Double, Double)] {
            var backOff = BackOff(longest: .seconds(1))
            backOff.failed(now: now, jitter: jitter)
            #expect(backOff.nextAttempt == now + .milliseconds(pause))
        }
    }

    @Test("A success begins anew")
    func reset() {
        var backOff = BackOff(longest: .seconds(1))
        let now = ContinuousClock.now
        for _ in 0..<5 { backOff.failed(now: now, jitter: 0) }
        backOff.reset()
        #expect(backOff.allowsAttempt(now: now) && !backOff.isFailing)
        backOff.failed(now: now, jitter: 0)
        #expect(backOff.nextAttempt == now + .milliseconds(50))
    }
}
