import Testing

@testable import SelfieClient

@Suite("The events of background uploads", .timeLimit(.minutes(1)))
struct BackgroundEventsTests {
    /// Whether a wait ends without another event; if not, it is cancelled.
    private static func isOver(_ events: BackgroundEvents) async throws -> Bool {
        let hasEnded = Locked(false)
        let wait = Task {
            await events.waitForEnd()
            if !Task.isCancelled { hasEnded.withLock { $0 = true } }
        }
        try await Task.sleep(for: .milliseconds(50))
        wait.cancel()
        await wait.value
        return hasEnded.withLock { $0 }
    }

    @Test("What ended before the app asks is known once")
    func before() async throws {
        let events = BackgroundEvents()
        #expect(try await !Self.isOver(events))
        events.end()
        #expect(try await Self.isOver(events))
        // The system wakes the same process once more.
        #expect(try await !Self.isOver(events))
        events.end()
        #expect(try await Self.isOver(events))
    }

    @Test("Who waits is told, and the next one waits for the next end")
    func waiting() async throws {
        let events = BackgroundEvents()
        for _ in 1...3 {
            let wait = Task { await events.waitForEnd() }
            try await Task.sleep(for: .milliseconds(20))
            events.end()
            await wait.value
            #expect(try await !Self.isOver(events))
        }
    }
}
