import Testing

@testable import Postgres

@Suite("PipelineStateMachine")
struct PipelineStateMachineTests {
    private let start = ContinuousClock.now
    private let divisionByZero = PostgresError.server(
        PostgresServerError(sqlState: SQLState("22012"), message: "division by zero")
    )

    /// A pipeline with batches of statements that are numbered from 0 on.
    private func pipeline(batches: Int...) -> PipelineStateMachine<Int> {
        var pipeline = PipelineStateMachine<Int>()
        var number = 0
        for count in batches {
            for _ in 0..<count {
                pipeline.sent(number, isPreparing: false, now: start, deadline: nil)
                number += 1
            }
            pipeline.synchronizing()
        }
        return pipeline
    }

    private func finished(_ event: PipelineStateMachine<Int>.Event) -> [PipelineStateMachine<Int>.Entry] {
        if case .finished(let entries) = event { entries } else { [] }
    }

    @Test("A batch is finished when the server is in sync, and not before")
    func batches() {
        var pipeline = pipeline(batches: 2, 1)
        for answered in 0..<2 {
            #expect(pipeline.head?.statement == answered && pipeline.expectsAnswer)
            #expect(finished(pipeline.received(.rows(.empty), now: start)).isEmpty)
        }
        let first = finished(pipeline.received(.synchronized, now: start))
        #expect(first.map(\.statement) == [0, 1] && first.allSatisfy { $0.failure == nil && !$0.isRolledBack })
        #expect(pipeline.head?.statement == 2)
        _ = pipeline.received(.rows(.empty), now: start)
        #expect(finished(pipeline.received(.synchronized, now: start)).map(\.statement) == [2])
        #expect(pipeline.isEmpty && !pipeline.expectsAnswer && pipeline.headSince == nil)
    }

    @Test("The failure of one is its own; those beside it, before and after, were undone, and the next batch was not")
    func failure() {
        var pipeline = pipeline(batches: 3, 1)
        _ = pipeline.received(.rows(.empty), now: start)
        _ = pipeline.received(.failure(divisionByZero), now: start)
        _ = pipeline.received(.skipped, now: start)
        let first = finished(pipeline.received(.synchronized, now: start))
        #expect(first.map(\.isRolledBack) == [true, false, true])
        #expect(first.map { $0.failure?.sqlState?.code } == [nil, "22012", nil])
        _ = pipeline.received(.rows(.empty), now: start)
        let second = finished(pipeline.received(.synchronized, now: start))
        #expect(second.map(\.isRolledBack) == [false] && second.map(\.statement) == [3])
    }

    @Test("A failure at the end of a batch is the error of a lone statement, and of none among several")
    func failureAtCommit() {
        for count in 1...2 {
            var pipeline = pipeline(batches: count, 1)
            for _ in 0..<count { _ = pipeline.received(.rows(.empty), now: start) }
            _ = pipeline.received(.failure(divisionByZero), now: start)
            let batch = finished(pipeline.received(.synchronized, now: start))
            #expect(batch.count == count)
            #expect(batch.allSatisfy { $0.isRolledBack == (count > 1) && ($0.failure != nil) == (count == 1) })
            // The next batch's answers are its own.
            #expect(pipeline.head?.statement == count && pipeline.head?.failure == nil)
        }
    }

    @Test("A preparation that was skipped did not take place; one that failed fails its statement, once")
    func preparations() {
        var pipeline = PipelineStateMachine<Int>()
        for number in 0..<2 { pipeline.sent(number, isPreparing: true, now: start, deadline: nil) }
        pipeline.synchronizing()
        let answers: [PipelineStateMachine<Int>.Answer] = [.failure(divisionByZero), .skipped]
        for (number, answer) in answers.enumerated() {
            guard case .notPrepared(number) = pipeline.received(answer, now: start) else {
                Issue.record("statement \(number) counts as prepared")
                return
            }
            guard case .none = pipeline.received(.skipped, now: start) else {
                Issue.record("statement \(number) was answered with more than its end")
                return
            }
        }
        let batch = finished(pipeline.received(.synchronized, now: start))
        #expect(batch.map(\.isRolledBack) == [false, true] && batch.map { $0.failure == nil } == [false, true])
    }

    @Test("An open batch that is answered already, as failures are, waits for nothing until its sync is sent")
    func openBatch() {
        var pipeline = PipelineStateMachine<Int>()
        #expect(!pipeline.isBatchOpen && !pipeline.expectsAnswer)
        pipeline.sent(0, isPreparing: false, now: start, deadline: nil)
        #expect(pipeline.isBatchOpen && pipeline.expectsAnswer)
        _ = pipeline.received(.failure(divisionByZero), now: start)
        #expect(!pipeline.expectsAnswer)
        pipeline.synchronizing()
        #expect(!pipeline.isBatchOpen && pipeline.expectsAnswer)
        #expect(finished(pipeline.received(.synchronized, now: start)).map { $0.failure != nil } == [true])
    }

    @Test("A cancellation may hit any statement but the one that it is for, also those sent before it arrives")
    func cancellation() {
        var pipeline = pipeline(batches: 2, 1)
        _ = pipeline.received(.rows(.empty), now: start)
        #expect(pipeline.abandon { $0 == 1 } == 1)
        #expect(pipeline.abandon { $0 == 1 } == nil)
        pipeline.cancelling()
        let entries = pipeline.takeAll()
        #expect(entries.map(\.mayBeHit) == [true, false, true])
        #expect(entries.map(\.isAbandoned) == [false, true, false])
        #expect(pipeline.isEmpty && pipeline.head == nil)
    }

    @Test("Statements are overdue by their own deadlines, and reported once")
    func deadlines() {
        var pipeline = PipelineStateMachine<Int>()
        for number in 1...3 {
            pipeline.sent(number, isPreparing: false, now: start, deadline: start + .seconds(number))
        }
        #expect(pipeline.nextDeadline == start + .seconds(1))
        #expect(pipeline.abandonOverdue(now: start) == nil)
        #expect(pipeline.abandonOverdue(now: start + .seconds(2)) == 1)
        #expect(pipeline.abandonOverdue(now: start + .seconds(2)) == 2)
        #expect(pipeline.abandonOverdue(now: start + .seconds(2)) == nil)
        #expect(pipeline.nextDeadline == start + .seconds(3))
    }
}
