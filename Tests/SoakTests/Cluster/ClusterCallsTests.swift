import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@Suite("What the soak of a cluster notes of a storm's calls")
struct ClusterCallsTests {
    /// What is known after one call.
    private static func calls(
        _ status: Int?,
        headers: [String: String] = [:],
        refusals: Set<Int> = []
    ) -> ClusterCalls {
        let calls = ClusterCalls(edges: [])
        let answer = status.map { HTTPAnswer(status: $0, headers: headers, body: Data()) }
        calls.note(StormCall(name: "PUT news", start: Date(), end: Date(), answer: answer, refusals: refusals))
        return calls
    }

    @Test("An answer counts, and 503 with Retry-After is a failure that may follow a loss")
    func accepted() {
        #expect(Self.calls(200).successes == ["storm: PUT news": 1])
        #expect(Self.calls(503, headers: ["retry-after": "5"]).failures.map(\.kind) == [.unavailable])
        let refused = Self.calls(404, refusals: [403, 404])
        #expect(refused.violations.isEmpty)
        #expect(refused.failures.isEmpty)
    }

    @Test("500, and 503 without Retry-After, are failures that nothing allows")
    func wrong() {
        #expect(Self.calls(500).failures.map(\.kind) == [.wrong(500)])
        #expect(Self.calls(503).failures.map(\.kind) == [.wrong(503)])
        #expect(Self.calls(429, headers: ["retry-after": "2"]).failures.map(\.kind) == [.busy])
    }

    @Test("A refusal that the storm does not cause is a violation")
    func refused() {
        #expect(Self.calls(401).violations == ["storm: PUT news was answered with 401: "])
        #expect(Self.calls(404, refusals: [403]).violations.count == 1)
    }

    @Test("A call without an answer is one that an app would send to the other proxy")
    func cut() {
        let calls = Self.calls(nil)
        #expect(calls.reroutes.map(\.kind) == [.cut])
        #expect(calls.failures.isEmpty)
    }
}
