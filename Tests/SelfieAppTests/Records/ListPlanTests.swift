import ServiceTestSupport
import Testing

@Suite("Plans of lists", .timeLimit(.minutes(2)))
struct ListPlanTests {
    @Test("No list reads more of a stream than it must, whatever its order and conditions")
    func plans() async throws {
        try await ListPlans.with(recordCount: 30_000) { plans in try await plans.expectAll() }
    }
}
