import ServerProcesses
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("The memory of refusals")
struct RefusalMemoryTests {
    private static let now = ContinuousClock.now
    private static let limit = RateLimit(2, per: 60)
    private let memory = RefusalMemory()

    private func remember(_ key: String, secondsLeft: Int = 30, now: ContinuousClock.Instant = now) {
        let exceeded = RateLimitExceeded(name: .signInPerAccount, limit: Self.limit, secondsLeft: secondsLeft)
        memory.remember(key, exceeded, now: now)
    }

    @Test("It remembers a refusal for a second, with the rest of the window")
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

    @Test("It forgets the given refusals")
    func forgetting() {
        for key in ["a", "b", "c"] { remember(key) }
        memory.forget(["a", "c", "d"])
        #expect(["a", "b", "c"].map { memory.refusal(of: $0, now: Self.now) != nil } == [false, true, false])
    }

    @Test("Its size is limited, and old refusals are replaced")
    func bound() {
        for number in 0..<10_000 { remember("\(number)") }
        remember("one more")
        #expect(memory.refusal(of: "0", now: Self.now) != nil)
        #expect(memory.refusal(of: "9999", now: Self.now) != nil)
        #expect(memory.refusal(of: "one more", now: Self.now) == nil)
        let later = Self.now + .seconds(1)
        remember("one more", now: later)
        #expect(memory.refusal(of: "one more", now: later) != nil)
    }

    @Test("Whatever is remembered and forgotten in whatever order, it says what a simple model says", arguments: 1...4)
    func walk(seed: Int) {
        struct Known {
            let time: ContinuousClock.Instant
            let secondsLeft: Int
        }
        var generator = SplitMix64(seed: UInt64(seed))
        var (now, model) = (Self.now, [String: Known]())
        var (found, missed) = (0, 0)
        for step in 0..<4_000 {
            now += .milliseconds(Int.random(in: 0...200, using: &generator))
            let key = "\(Int.random(in: 0..<6, using: &generator))"
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1:
                let secondsLeft = Int.random(in: 1...3, using: &generator)
                remember(key, secondsLeft: secondsLeft, now: now)
                model[key] = Known(time: now, secondsLeft: secondsLeft)
            case 2:
                memory.forget([key])
                model[key] = nil
            default:
                let known = model[key].flatMap { now - $0.time < .seconds(1) ? $0 : nil }
                let refusal = memory.refusal(of: key, now: now)
                // Less than a second of what was left has passed, and a part of one counts as one.
                #expect(refusal?.secondsLeft == known?.secondsLeft, "step \(step)")
                if refusal == nil { missed += 1 } else { found += 1 }
            }
        }
        #expect(found > 500 && missed > 500)
    }
}
