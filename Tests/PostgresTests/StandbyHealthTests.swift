import Testing

@testable import Postgres

@Suite("When a standby is asked")
struct StandbyHealthTests {
    /// A standby whose readers come and end at times that a test says, in milliseconds.
    private struct Standby {
        private static let start = ContinuousClock.now

        private var health = StandbyHealth()

        /// A reader that must be let through.
        mutating func ask(at time: Int) throws -> StandbyHealth.Attempt {
            let attempt = health.attempt(now: Self.start + .milliseconds(time))
            return try #require(attempt)
        }

        mutating func end(_ attempt: StandbyHealth.Attempt, at time: Int, isOutage: Bool = true) {
            health.ended(attempt, isOutage: isOutage, now: Self.start + .milliseconds(time), jitter: 0)
        }

        mutating func answered() { health.answered() }

        /// Whether a reader would be let through.
        func isAsked(at time: Int) -> Bool {
            var health = health
            return health.attempt(now: Self.start + .milliseconds(time)) != nil
        }
    }

    /// A standby whose first reader has failed at 0.
    private static func failed() throws -> Standby {
        var standby = Standby()
        let attempt = try standby.ask(at: 0)
        standby.end(attempt, at: 0)
        return standby
    }

    @Test("Many readers that fail at once begin one pause of 50 milliseconds")
    func failuresAtOnce() throws {
        var standby = Standby()
        var attempts: [StandbyHealth.Attempt] = []
        for _ in 0..<7 { attempts.append(try standby.ask(at: 0)) }
        for attempt in attempts { standby.end(attempt, at: 0) }
        #expect(!standby.isAsked(at: 49))
        #expect(standby.isAsked(at: 50))
    }

    @Test("Pauses double up to five seconds while the standby does not come back")
    func pauses() throws {
        var (standby, time) = (try Self.failed(), 0)
        for pause in [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            #expect(!standby.isAsked(at: time + pause - 1))
            time += pause
            let attempt = try standby.ask(at: time)
            standby.end(attempt, at: time)
        }
    }

    @Test("After a pause, one reader at a time is let through, however long it takes")
    func probe() throws {
        var standby = try Self.failed()
        let attempt = try standby.ask(at: 50)
        #expect(!standby.isAsked(at: 60_000))
        standby.end(attempt, at: 60_000)
        #expect(!standby.isAsked(at: 60_099))
        #expect(standby.isAsked(at: 60_100))
    }

    @Test("A reader that ends without an outage begins no pause")
    func noOutage() throws {
        var standby = Standby()
        let attempt = try standby.ask(at: 0)
        standby.end(attempt, at: 0, isOutage: false)
        #expect(standby.isAsked(at: 0))
    }

    @Test("After a reader that found out nothing, the next one is let through at once, and alone")
    func unknown() throws {
        var standby = try Self.failed()
        let first = try standby.ask(at: 50)
        standby.end(first, at: 50, isOutage: false)
        let second = try standby.ask(at: 50)
        #expect(!standby.isAsked(at: 50))
        standby.end(second, at: 50)
        #expect(!standby.isAsked(at: 149))
        #expect(standby.isAsked(at: 150))
    }

    @Test("After an answer all are let through, and the next pause is 50 milliseconds again")
    func answer() throws {
        var standby = try Self.failed()
        _ = try standby.ask(at: 50)
        standby.answered()
        _ = try standby.ask(at: 50)
        let attempt = try standby.ask(at: 50)
        standby.end(attempt, at: 50)
        #expect(!standby.isAsked(at: 99))
        #expect(standby.isAsked(at: 100))
    }

    @Test("A reader from before the pause that fails late changes nothing for the one that finds out")
    func lateFailure() throws {
        var standby = Standby()
        let (early, late) = (try standby.ask(at: 0), try standby.ask(at: 0))
        standby.end(early, at: 0)
        _ = try standby.ask(at: 50)
        standby.end(late, at: 60)
        #expect(!standby.isAsked(at: 60_000))
    }
}
