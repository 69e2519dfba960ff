import Deliveries
import Synchronization
import Testing

@testable import Curl
@testable import SelfieNotifications

@Suite("A server of pushes that does not answer")
struct PushServerTests {
    /// Counts requests, all of which are cut.
    private final class CutRequests: Sendable {
        let server = PushServer("a")
        private let sent = Atomic(0)

        var count: Int { sent.load(ordering: .relaxed) }

        /// - Returns: Why there was no answer.
        func send() async -> PushServer.Unavailable? {
            do {
                try await server.answer {
                    sent.add(1, ordering: .relaxed)
                    throw CurlFailure(reason: .refused, lastProgress: .now, hasSentBody: false)
                }
                return nil
            } catch {
                return error as? PushServer.Unavailable
            }
        }
    }

    @Test("After a cut connection, the request is sent once more at once")
    func cut() async throws {
        var count = 0
        let answer = try await PushServer("a").answer {
            count += 1
            if count == 1 { throw CurlFailure(reason: .refused, lastProgress: .now, hasSentBody: false) }
            return "taken"
        }
        #expect(answer == "taken" && count == 2)
    }

    @Test("Once it has failed, no other request waits for it; later, one at a time does")
    func silent() async throws {
        let requests = CutRequests()
        let first = try #require(await requests.send())
        #expect(first.server == "a" && first.error != nil && requests.count == 2)
        for _ in 0..<5 {
            let other = try #require(await requests.send())
            #expect(other.error == nil)
        }
        #expect(requests.count == 2)
        // After the time for which it asks to be left alone.
        #expect(requests.server.unavailable("503", for: .zero) == .unavailable(reason: "503", server: "a"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { _ = await requests.send() } }
        }
        #expect(requests.count == 4, "one request, and once more")
        _ = requests.server.unavailable("503", for: .zero)
        for _ in 0..<2 {
            let answer = try await requests.server.answer { "taken" }
            #expect(answer == "taken")
        }
    }
}
