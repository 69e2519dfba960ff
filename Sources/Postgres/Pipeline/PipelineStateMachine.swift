import DequeModule

/// The statements under way on one connection, in order, and the caller for each of the server's answers.
///
/// Statements up to a sync are a batch. To the server they are one transaction: all take effect or none. When one
/// fails, the others can be run again.
struct PipelineStateMachine<Statement> {
    /// A statement that was sent.
    struct Entry {
        let statement: Statement
        /// Whether its preparation was sent along, and has not been answered.
        fileprivate(set) var isPreparing: Bool
        /// When the caller gets a time-out error; nil for no limit.
        let deadline: ContinuousClock.Instant?
        /// What the caller gets once the server is in sync.
        ///
        /// Until then, a later failure can still undo a success.
        fileprivate(set) var outcome: Result<PostgresRows, PostgresError> = .success(.empty)
        var failure: PostgresError? {
            if case .failure(let error) = outcome { error } else { nil }
        }

        /// Whether it had no effect because another statement of its batch failed.
        fileprivate(set) var isRolledBack = false
        /// Whether the caller was cancelled or timed out.
        fileprivate(set) var isAbandoned = false
        /// Whether a cancellation that was meant for another may have hit it.
        fileprivate(set) var mayBeHit: Bool
        fileprivate var endsBatch = false
    }

    enum Answer {
        case rows(PostgresRows)
        case failure(PostgresError)
        case skipped
        case synchronized
    }

    enum Event {
        case none
        case prepared(Statement)
        case notPrepared(Statement)
        /// A batch has ended, with these statements.
        case finished([Entry])
    }

    private var entries: Deque<Entry> = []
    /// How many entries, from the first on, have been answered; their batch has not ended.
    private var answeredCount = 0
    /// Since when the server has been at the entry that it is at.
    private(set) var headSince: ContinuousClock.Instant?

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var last: Entry? { entries.last }

    /// The entry that the server is at.
    var head: Entry? { entries.isEmpty ? nil : entries[headPosition] }
    private var headPosition: Int { min(answeredCount, entries.count - 1) }

    /// Whether the server will answer without being sent more.
    ///
    /// It reports a failure in an open batch at once.
    var expectsAnswer: Bool { answeredCount < entries.count || !(isEmpty || isBatchOpen) }

    /// Whether a sync is yet to follow what was sent.
    var isBatchOpen: Bool { entries.last.map { !$0.endsBatch } ?? false }

    mutating func sent(
        _ statement: Statement,
        isPreparing: Bool,
        now: ContinuousClock.Instant,
        deadline: ContinuousClock.Instant?,
        mayBeHit: Bool = false
    ) {
        if entries.isEmpty { headSince = now }
        let entry = Entry(statement: statement, isPreparing: isPreparing, deadline: deadline, mayBeHit: mayBeHit)
        entries.append(entry)
    }

    /// A sync was sent.
    mutating func synchronizing() {
        guard !entries.isEmpty else { return }
        entries[entries.count - 1].endsBatch = true
    }

    mutating func received(_ answer: Answer, now: ContinuousClock.Instant) -> Event {
        guard !entries.isEmpty else { return .none }
        if case .synchronized = answer { return .finished(endBatch(now: now)) }
        let batchCount = batchCount
        // After a batch is answered, further answers belong to its last statement: a script has any number.
        let position = min(answeredCount, batchCount - 1)
        if entries[position].isPreparing {
            entries[position].isPreparing = false
            if case .rows = answer { return .prepared(entries[position].statement) }
            fail(position, answer)
            return .notPrepared(entries[position].statement)
        }
        if answeredCount < batchCount || batchCount == 1 {
            if case .rows(let rows) = answer { entries[position].outcome = .success(rows) }
            fail(position, answer)
        } else if case .failure = answer {
            // The commit failed, and the server does not say which statement caused it: none took effect.
            for position in 0..<batchCount { entries[position].isRolledBack = true }
        }
        answeredCount = min(answeredCount + 1, batchCount)
        headSince = now
        return .none
    }

    /// How many entries, from the first on, are in the batch that the server is at.
    private var batchCount: Int {
        entries.firstIndex(where: \.endsBatch).map { $0 + 1 } ?? entries.count
    }

    private mutating func fail(_ position: Int, _ answer: Answer) {
        switch answer {
        // The first failure is the cause of others.
        case .failure(let error) where entries[position].failure == nil:
            entries[position].outcome = .failure(error)
        case .skipped where entries[position].failure == nil: entries[position].isRolledBack = true
        default: break
        }
    }

    private mutating func endBatch(now: ContinuousClock.Instant) -> [Entry] {
        var batch = Array(entries.prefix(batchCount))
        entries.removeFirst(batch.count)
        answeredCount = 0
        headSince = entries.isEmpty ? nil : now
        if batch.contains(where: { $0.failure != nil }) {
            for position in batch.indices where batch[position].failure == nil { batch[position].isRolledBack = true }
        }
        return batch
    }

    /// A caller is cancelled.
    ///
    /// The answer will be dropped when it comes.
    ///
    /// - Returns: The statement; nil when it is not under way.
    mutating func abandon(where matches: (Statement) -> Bool) -> Statement? {
        guard let position = entries.firstIndex(where: { !$0.isAbandoned && matches($0.statement) }) else { return nil }
        entries[position].isAbandoned = true
        return entries[position].statement
    }

    /// Abandons the first statement whose time is over.
    mutating func abandonOverdue(now: ContinuousClock.Instant) -> Statement? {
        guard
            let position = entries.firstIndex(where: { entry in
                !entry.isAbandoned && entry.deadline.map { $0 <= now } ?? false
            })
        else { return nil }
        entries[position].isAbandoned = true
        return entries[position].statement
    }

    /// When the next statement's time is over.
    var nextDeadline: ContinuousClock.Instant? {
        // They were sent in this order, nearly all with the same limit. So the first is due first.
        entries.first { !$0.isAbandoned && $0.deadline != nil }?.deadline
    }

    /// A cancellation is sent for the entry that the server is at.
    ///
    /// It may hit a later one instead.
    mutating func cancelling() {
        for position in entries.indices where position != headPosition { entries[position].mayBeHit = true }
    }

    /// The connection is lost: returns all entries, and clears them.
    mutating func takeAll() -> [Entry] {
        defer { (entries, answeredCount) = ([], 0) }
        return Array(entries)
    }
}
