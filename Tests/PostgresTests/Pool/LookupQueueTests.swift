import Testing

@testable import Postgres

@Suite("Which look-ups go in one statement", .timeLimit(.minutes(1)))
struct LookupQueueTests {
    private static let start = ContinuousClock.now

    @Test("64 go together, the others once the first statement is answered or slow", arguments: [true, false])
    func together(isAnswered: Bool) async {
        let line = Line()
        let calls = await line.ask(1...70)
        let first = await line.take()
        #expect(first.batches.map { $0.callers.count } == [64])
        let meanwhile = await line.take(after: .milliseconds(19))
        #expect(meanwhile.batches.isEmpty && meanwhile.deadline == Self.start + .milliseconds(20))
        if isAnswered { await line.fail(first.batches) }
        let second = await line.take(after: .milliseconds(isAnswered ? 19 : 20))
        #expect(second.batches.flatMap { $0.callers.map { $0.id } }.sorted() == Array(65...70))
        if !isAnswered { await line.fail(first.batches) }
        await line.fail(second.batches)
        for call in calls { #expect(await call.value == "statementTimedOut") }
        #expect(await line.callerCount == 0)
    }

    @Test("A statement is abandoned with its last caller; a caller who waits is not sent")
    func cancelled() async {
        let line = Line()
        let calls = await line.ask(1...3)
        #expect(await line.cancel(3) == [true, false])
        let batches = await line.take().batches
        #expect(batches.map { $0.callers.map { $0.id }.sorted() } == [[1, 2]])
        #expect(await line.cancel(1) == [true, false])
        #expect(await line.cancel(1) == [false, false])
        #expect(await line.cancel(2) == [true, true])
        for call in calls { #expect(await call.value == "cancelled") }
        await line.fail(batches)
        #expect(await line.callerCount == 0)
    }

    @Test("Beyond the limit, a caller is refused at once")
    func full() async {
        let line = Line(maxWaiters: 2)
        let calls = await line.ask(1...2)
        #expect(await line.call(3) == "tooManyWaiting")
        await line.fail(await line.take().batches)
        for call in calls { #expect(await call.value == "statementTimedOut") }
    }

    /// The queue with its callers, who get the name of an error.
    private actor Line {
        private static let lookup = PostgresLookup(columns: "number", source: "FROM things WHERE key = asked.key")

        private var queue: LookupQueue
        private var lastStatement: UInt64 = 1_000

        init(maxWaiters: Int = 100) {
            var limits = PoolLimits()
            limits.maxWaiters = maxWaiters
            queue = LookupQueue(limits: limits)
        }

        var callerCount: Int { queue.callerCount }

        func call(_ id: UInt64) async -> String {
            let outcome = await withCheckedContinuation { queue.add(id, Self.lookup, key: [UInt8(id)], $0) }
            switch outcome {
            case .failure(.statementTimedOut): return "statementTimedOut"
            case .failure(.cancelled): return "cancelled"
            case .failure(.tooManyWaiting): return "tooManyWaiting"
            default: return "\(outcome)"
            }
        }

        func ask(_ ids: ClosedRange<UInt64>) async -> [Task<String, Never>] {
            let calls = ids.map { id in Task { await call(id) } }
            while queue.callerCount < ids.count { await Task.yield() }
            return calls
        }

        func take(
            after passed: Duration = .zero
        ) -> (batches: [LookupQueue.Batch], deadline: ContinuousClock.Instant?) {
            queue.takeBatches(now: LookupQueueTests.start + passed) {
                lastStatement += 1
                return lastStatement
            }
        }

        /// Cancels a caller: whether it was here, and whether it leaves its statement without callers.
        func cancel(_ id: UInt64) -> [Bool] {
            let outcome = queue.cancel(id)
            return [outcome.wasHere, outcome.abandoned == lastStatement]
        }

        func fail(_ batches: [LookupQueue.Batch]) {
            for batch in batches { queue.finish(batch, .failure(.statementTimedOut(isAnswered: true))) }
        }
    }
}
