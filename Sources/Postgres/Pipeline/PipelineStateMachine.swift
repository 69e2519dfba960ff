import DequeModule

/// What is under way on one connection, in order, and what each answer of the server means for whom.
///
/// Every statement is followed by a sync, so that the failure of one never touches another.
struct PipelineStateMachine<Statement> {
    /// A statement that was sent.
    struct Entry {
        let statement: Statement
        /// Whether its preparation was sent along, and has not been answered.
        fileprivate(set) var isPreparing: Bool
        /// When the caller is told that it took too long; nil for no limit.
        let deadline: ContinuousClock.Instant?
        /// What the caller gets once the server is in sync: until then even a success may turn out not to be one.
        fileprivate(set) var outcome: Result<PostgresRows, PostgresError> = .success(.empty)
        var failure: PostgresError? {
            if case .failure(let error) = outcome { error } else { nil }
        }

        /// Whether the caller has gone.
        fileprivate(set) var isAbandoned = false
        /// Whether a cancellation that was meant for another may have hit it.
        fileprivate(set) var mayBeHit: Bool
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
        case finished(Entry)
    }

    private var entries: Deque<Entry> = []
    /// When the first entry became the first.
    private(set) var headSince: ContinuousClock.Instant?

    var isEmpty: Bool { entries.isEmpty }
    var head: Entry? { entries.first }
    var last: Entry? { entries.last }

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

    mutating func received(_ answer: Answer, now: ContinuousClock.Instant) -> Event {
        guard var entry = entries.first else { return .none }
        var event = Event.none
        switch answer {
        case .rows where entry.isPreparing:
            entry.isPreparing = false
            event = .prepared(entry.statement)
        case .rows(let rows): entry.outcome = .success(rows)
        case .failure(let error):
            if entry.isPreparing { event = .notPrepared(entry.statement) }
            entry.isPreparing = false
            // The first failure is the cause of others.
            if case .success = entry.outcome { entry.outcome = .failure(error) }
        case .skipped: break
        case .synchronized:
            entries.removeFirst()
            headSince = entries.isEmpty ? nil : now
            return .finished(entry)
        }
        entries[0] = entry
        return event
    }

    /// A caller goes; the answer, when it comes, is for nobody.
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
        // They were sent in this order, with one limit for nearly all: the first is the first to be over.
        entries.first { !$0.isAbandoned && $0.deadline != nil }?.deadline
    }

    /// A cancellation is sent for the first entry; it may come too late, and hit one after it.
    mutating func cancelling() {
        for position in entries.indices.dropFirst() { entries[position].mayBeHit = true }
    }

    /// The connection is gone, and with it what was under way.
    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return Array(entries)
    }
}
