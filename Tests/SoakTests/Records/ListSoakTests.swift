import ServiceTestSupport
import Testing

@Suite("Long lists", .serialized, .timeLimit(.minutes(20)))
struct ListSoakTests {
    @Test("Each record that stays is in each list once, while 8 writers insert, move and delete others for a minute")
    func shifting() async throws {
        let count = try await ShiftingLists(time: .seconds(60)).run()
        print("\(count) lists")
    }

    @Test(
        "Of a million records, no list reads more than it must, and a page takes at most 1.3 times as long as of a hundred"
    )
    func million() async throws {
        try await ListPlans.with(recordCount: 1_000_000) { plans in
            try await plans.expectAll()
            for (shape, ratio) in try await plans.ratios() {
                print(shape, "takes", ratio)
            }
        }
    }
}
