import TestSupport
import Testing

@testable import Postgres

/// Whatever the server answers, and whoever goes in between, a pipeline keeps its promises.
@Suite("PipelineStateMachine, at random")
struct PipelineModelTests {
    private typealias Machine = PipelineStateMachine<Int>

    /// What a server does with what was sent, one answer after the other.
    private struct Server {
        struct Command {
            let number: Int
            let isPreparing: Bool
            var endsBatch = false
        }

        /// What was sent and not answered.
        var commands: [Command] = []
        /// Whether a statement of the batch that it is at has failed, and the rest is skipped.
        private var isFailing = false
        private var isPrepared = false
        private var isBatchAnswered = false
        private(set) var failed: Set<Int> = []
        private(set) var run: Set<Int> = []
        private(set) var synchronized: [[Int]] = []
        private var batch: [Int] = []
        /// Whether the last batch could not be committed.
        private(set) var failedAtCommit = false

        /// How many of the batch that it is at it has answered.
        var answeredCount: Int { batch.count }

        /// Whether it says something without being sent more.
        var hasAnswer: Bool { !commands.isEmpty || isBatchAnswered }

        /// A sync was sent.
        mutating func endBatch() {
            guard !commands.isEmpty else {
                isBatchAnswered = true
                return
            }
            commands[commands.count - 1].endsBatch = true
        }

        /// What it says next.
        mutating func answer(using generator: inout SplitMix64) -> Machine.Answer {
            if isBatchAnswered {
                if !isFailing, Int.random(in: 0..<12, using: &generator) == 0 {
                    (isFailing, failedAtCommit) = (true, true)
                    return .failure(Self.failure)
                }
                (isBatchAnswered, isFailing) = (false, false)
                synchronized.append(batch)
                batch = []
                return .synchronized
            }
            if batch.isEmpty { failedAtCommit = false }
            let command = commands[0]
            let isPreparation = command.isPreparing && !isPrepared
            let fails = !isFailing && Int.random(in: 0..<6, using: &generator) == 0
            if fails { failed.insert(command.number) }
            let answer: Machine.Answer = isFailing ? .skipped : fails ? .failure(Self.failure) : .rows(.empty)
            if fails { isFailing = true }
            if isPreparation {
                isPrepared = true
                return answer
            }
            if !isFailing { run.insert(command.number) }
            isPrepared = false
            batch.append(command.number)
            isBatchAnswered = command.endsBatch
            commands.removeFirst()
            return answer
        }

        static let failure = PostgresError.server(
            PostgresServerError(sqlState: SQLState("22012"), message: "division by zero")
        )
    }

    /// A pipeline and what its owner would know of it.
    private struct Model {
        var machine = Machine()
        var server = Server()
        var now = ContinuousClock.now
        var lastNumber = 0
        /// Sent and not finished, in order.
        var underWay: [Int] = []
        var deadlines: [Int: ContinuousClock.Instant] = [:]
        var abandoned: Set<Int> = []
        /// How often each was answered: by its end, or because its caller gave up.
        var answers: [Int: Int] = [:]
        var prepared: Set<Int> = []
        var notPrepared: Set<Int> = []
        var isPreparing: Set<Int> = []
        /// Those that a cancellation may hit, which was meant for another.
        var endangered: Set<Int> = []
        var rolledBackCount = 0

        mutating func send(using generator: inout SplitMix64) {
            lastNumber += 1
            let isPreparing = Int.random(in: 0..<3, using: &generator) == 0
            let deadline = Int.random(in: 0..<8, using: &generator) == 0 ? nil : now + .milliseconds(200)
            machine.sent(lastNumber, isPreparing: isPreparing, now: now, deadline: deadline)
            server.commands.append(Server.Command(number: lastNumber, isPreparing: isPreparing))
            underWay.append(lastNumber)
            deadlines[lastNumber] = deadline
            if isPreparing { self.isPreparing.insert(lastNumber) }
        }

        mutating func synchronize() {
            guard machine.isBatchOpen else { return }
            machine.synchronizing()
            server.endBatch()
        }

        mutating func receive(using generator: inout SplitMix64) {
            let synchronizedCount = server.synchronized.count
            let answer = server.answer(using: &generator)
            switch machine.received(answer, now: now) {
            case .none: break
            case .prepared(let number):
                let isNew = prepared.insert(number).inserted
                #expect(isNew && isPreparing.contains(number))
            case .notPrepared(let number):
                let isNew = notPrepared.insert(number).inserted
                #expect(isNew && isPreparing.contains(number))
            case .finished(let entries):
                #expect(server.synchronized.count == synchronizedCount + 1)
                #expect(entries.map(\.statement) == server.synchronized.last)
                finish(entries)
            }
            #expect(underWay.count == server.commands.count + server.answeredCount)
        }

        mutating func finish(_ entries: [Machine.Entry]) {
            #expect(underWay.prefix(entries.count).elementsEqual(entries.map(\.statement)))
            underWay.removeFirst(min(underWay.count, entries.count))
            let failures = entries.filter { $0.failure != nil }
            // One failure is somebody's own, and then all the others had no effect.
            #expect(failures.count <= 1)
            for entry in entries {
                let number = entry.statement
                #expect(entry.isAbandoned == abandoned.contains(number))
                #expect(entry.mayBeHit == endangered.contains(number))
                if entry.failure != nil {
                    #expect(server.failed.contains(number) || (server.failedAtCommit && entries.count == 1))
                } else if server.failedAtCommit || !failures.isEmpty {
                    #expect(entry.isRolledBack, "\(number) had no effect, and may be run again")
                }
                if entry.isRolledBack {
                    rolledBackCount += 1
                    #expect(entry.failure == nil, "\(number) failed itself, and is never run again")
                    #expect(server.failedAtCommit || !failures.isEmpty, "\(number) took effect, and would twice")
                } else if entry.failure == nil {
                    #expect(server.run.contains(number), "\(number) was never run")
                }
                if !entry.isAbandoned { answers[number, default: 0] += 1 }
            }
        }

        mutating func abandon(_ number: Int) {
            let isFirst = !abandoned.contains(number) && underWay.contains(number)
            let statement = machine.abandon { $0 == number }
            #expect(statement == (isFirst ? number : nil))
            if isFirst { noteAnswer(number) }
        }

        mutating func expire() {
            while let number = machine.abandonOverdue(now: now) {
                #expect(deadlines[number].map { $0 <= now } == true)
                noteAnswer(number)
            }
            for number in underWay where !abandoned.contains(number) {
                #expect(deadlines[number].map { $0 > now } ?? true, "\(number) is overdue, and its caller got no error")
            }
        }

        private mutating func noteAnswer(_ number: Int) {
            let isNew = abandoned.insert(number).inserted
            #expect(isNew)
            answers[number, default: 0] += 1
        }

        mutating func cancel() {
            guard let head = machine.head?.statement else { return }
            machine.cancelling()
            endangered.formUnion(underWay.filter { $0 != head })
        }

        mutating func lose() {
            let entries = machine.takeAll()
            #expect(entries.map(\.statement) == underWay)
            for entry in entries where !entry.isAbandoned { answers[entry.statement, default: 0] += 1 }
            underWay = []
            #expect(machine.isEmpty && machine.head == nil && !machine.isBatchOpen)
            // Another connection takes its place.
            (machine, server) = (Machine(), Server())
        }

        func check() {
            #expect(machine.count == underWay.count && machine.isEmpty == underWay.isEmpty)
            #expect(machine.last?.statement == underWay.last)
            #expect(machine.expectsAnswer == server.hasAnswer)
            #expect((machine.headSince == nil) == underWay.isEmpty)
            #expect(machine.headSince.map { $0 <= now } ?? true)
            // The server is at what it has not answered; when it has answered all, at the last one's end.
            #expect(machine.head?.statement == (server.commands.first?.number ?? underWay.last))
            let next = underWay.first { !abandoned.contains($0) && deadlines[$0] != nil }
            #expect(machine.nextDeadline == next.flatMap { deadlines[$0] })
        }
    }

    @Test("Every statement is answered once, and only one without effect may be run again", arguments: 0..<4)
    func promises(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var model = Model()
        for _ in 0..<4_000 {
            model.now += .milliseconds(Int.random(in: 0...3, using: &generator))
            step(&model, using: &generator)
            model.check()
        }
        model.synchronize()
        while model.server.hasAnswer {
            model.receive(using: &generator)
            model.check()
        }
        #expect(model.underWay.isEmpty && model.machine.isEmpty)
        #expect(model.answers.count == model.lastNumber && model.answers.values.allSatisfy { $0 == 1 })
        #expect(model.prepared.isDisjoint(with: model.notPrepared))
        // All that the walk is about has happened.
        #expect(model.lastNumber > 500 && model.rolledBackCount > 50)
        #expect(model.abandoned.count > 50 && model.endangered.count > 50 && model.prepared.count > 50)
        #expect(model.notPrepared.count > 50)
    }

    private func step(_ model: inout Model, using generator: inout SplitMix64) {
        switch Int.random(in: 0..<32, using: &generator) {
        case 0..<12 where model.underWay.count < 24: model.send(using: &generator)
        case 12..<15: model.synchronize()
        case 15: if let number = model.underWay.randomElement(using: &generator) { model.abandon(number) }
        case 16: model.expire()
        case 17: model.cancel()
        case 18 where Int.random(in: 0..<10, using: &generator) == 0: model.lose()
        default: if model.server.hasAnswer { model.receive(using: &generator) }
        }
    }
}
