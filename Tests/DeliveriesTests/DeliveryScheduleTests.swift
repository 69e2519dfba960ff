import Deliveries
import Testing

@Suite("When a delivery is tried again")
struct DeliveryScheduleTests {
    @Test(
        "After 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, a fifth more or less",
        arguments: zip(1...7, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000])
    )
    func pauses(tryCount: Int, seconds: Int) {
        let usual = Duration.seconds(seconds)
        #expect(DeliverySchedule.pause(afterTry: tryCount, random: { _ in 0 }) == usual)
        #expect(DeliverySchedule.pause(afterTry: tryCount, random: \.lowerBound) == usual * 0.8)
        #expect(DeliverySchedule.pause(afterTry: tryCount, random: \.upperBound) == usual * 1.2)
        let pauses = (0..<50).compactMap { _ in DeliverySchedule.pause(afterTry: tryCount) }
        #expect(pauses.count == 50 && pauses.allSatisfy { usual * 0.8 <= $0 && $0 <= usual * 1.2 })
        #expect(Set(pauses).count > 10)
    }

    @Test("The eighth try is the last")
    func last() {
        #expect(DeliverySchedule.maxTryCount == 8)
        #expect(DeliverySchedule.pause(afterTry: 8) == nil)
        #expect(DeliverySchedule.pause(afterTry: 0) == nil)
    }

    @Test(
        "Who asks for more time gets it, up to twice the usual pause",
        arguments: [(0, 300), (299, 300), (500, 500), (9_000, 600)]
    )
    func retryAfter(asked: Int, expected: Int) {
        let pause = DeliverySchedule.pause(afterTry: 2, retryAfter: .seconds(asked), random: { _ in 0 })
        #expect(pause == .seconds(expected))
    }
}
