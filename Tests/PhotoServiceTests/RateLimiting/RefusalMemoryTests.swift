import Testing

@testable import PhotoService

@Suite("The memory of refusals")
struct RefusalMemoryTests {
    private static let now = ContinuousClock.now
    private static let limit = RateLimit(2, per: 60)
    private let memory = RefusalMemory()

    private func remember(_ key: String, secondsLeft: Int = 30, now: ContinuousClock.Instant = now) {
        let exceeded = RateLimitExceeded(limit: Self.limit, secondsLeft: secondsLeft)
        memory.remember(key, exceeded, now: now)
    }

    @Test("It keeps a refusal for a second, with what is left of the window")
    func duration() {
        remember("a")
        for (milliseconds, secondsLeft) in [(0, 30), (1, 30), (999, 30), (1_000, nil)] as [(Int, Int?)] {
            let refusal = memory.refusal(of: "a", now: Self.now + .milliseconds(milliseconds))
            #expect(refusal?.secondsLeft == secondsLeft)
            #expect(refusal.map { $0.limit == Self.limit } ?? true)
        }
        remember("a", secondsLeft: 1)
        #expect(memory.refusal(of: "a", now: Self.now + .milliseconds(999))?.secondsLeft == 1)
        #expect(memory.refusal(of: "b", now: Self.now) == nil)
    }

    @Test("It forgets what has a place again")
    func forgetting() {
        for key in ["a", "b", "c"] { remember(key) }
        memory.forget(["a", "c", "d"])
        #expect(["a", "b", "c"].map { memory.refusal(of: $0, now: Self.now) != nil } == [false, true, false])
    }

    @Test("It does not grow without end, and has room again once refusals are old")
    func bound() {
        for number in 0..<RefusalMemory.countMax { remember("\(number)") }
        remember("one more")
        #expect(memory.refusal(of: "0", now: Self.now) != nil)
        #expect(memory.refusal(of: "one more", now: Self.now) == nil)
        let later = Self.now + RefusalMemory.duration
        remember("one more", now: later)
        #expect(memory.refusal(of: "one more", now: later) != nil)
    }
}
