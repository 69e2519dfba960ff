import Synchronization
import Testing

@testable import Concurrency

@Suite("A few tasks at a time", .timeLimit(.minutes(1)))
struct ConcurrentResultsTests {
    private struct Failed: Error {}

    /// Counts who is at work; those who come first meet.
    private actor Gauge {
        private(set) var most = 0
        private var current = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func begin(meeting count: Int?) async {
            current += 1
            most = max(most, current)
            guard let count else { return }
            if waiting.count < count - 1 { return await withCheckedContinuation { waiting.append($0) } }
            for continuation in waiting { continuation.resume() }
        }

        func end() { current -= 1 }
    }

    @Test("As many run at once as may, and each result is taken once", arguments: [1, 3, 10])
    func atOnce(limit: Int) async throws {
        let gauge = Gauge()
        var results: [Int] = []
        try await forEachResult(
            of: 0..<limit * 4,
            atOnce: limit,
            by: { number in
                await gauge.begin(meeting: number < limit ? limit : nil)
                for _ in 0..<10 { await Task.yield() }
                await gauge.end()
                return number
            }
        ) { results.append($0) }
        #expect(results.sorted() == Array(0..<limit * 4))
        #expect(await gauge.most == limit)
    }

    @Test("The limit is asked each time before one begins")
    func changingLimit() async throws {
        var (asked, results) = (0, [Int]())
        func limit() -> Int {
            asked += 1
            return asked
        }
        try await forEachResult(of: 0..<5, atOnce: limit(), by: { $0 }) { results.append($0) }
        #expect(asked == 5 && results.sorted() == [0, 1, 2, 3, 4])
    }

    @Test(
        "The first failure, of a task or of the consumer, cancels the other tasks and is thrown",
        arguments: [true, false]
    )
    func failure(isOfTask: Bool) async throws {
        let cancelled = Mutex(0)
        await #expect(throws: Failed.self) {
            try await forEachResult(
                of: 0..<3,
                atOnce: 3,
                by: { number in
                    guard number == 1 else {
                        do {
                            try await Task.sleep(for: .seconds(600))
                        } catch {
                            cancelled.withLock { $0 += 1 }
                            throw error
                        }
                        return
                    }
                    if isOfTask { throw Failed() }
                }
            ) { throw Failed() }
        }
        #expect(cancelled.withLock { $0 } == 2)
    }
}
