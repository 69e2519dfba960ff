/// Decides which look-ups of several callers go in one statement.
///
/// Those that come while another statement of the same look-up is under way wait for it, and go together. So the more
/// callers there are, the more of them share a statement. No caller waits behind a statement that turns out slow.
struct LookupQueue {
    typealias Continuation = CheckedContinuation<Result<PostgresRow?, PostgresError>, Never>

    /// The look-ups of one statement.
    struct Batch {
        let statementID: UInt64
        let lookup: PostgresLookup
        let callers: [(id: UInt64, key: [UInt8])]

        var query: PostgresQuery { lookup.query(for: callers.map { $0.key }) }
    }

    private struct Caller {
        let continuation: Continuation
        /// The statement that has the caller's key.
        var statementID: UInt64?
    }

    /// Callers of one look-up.
    private struct Lookups {
        var waiting: [(id: UInt64, key: [UInt8])] = []
        /// The last statement, until it is answered.
        var underWay: (id: UInt64, start: ContinuousClock.Instant)?
    }

    private let maxCallers: Int
    /// How long a statement may run before no other waits behind it.
    private let slowness: Duration
    private var lookups: [PostgresLookup: Lookups] = [:]
    private var callers: [UInt64: Caller] = [:]

    init(limits: PoolLimits) {
        maxCallers = limits.maxWaiters
        slowness = limits.slowness
    }

    /// How many callers have no answer yet.
    var callerCount: Int { callers.count }

    /// Adds a caller, or refuses it.
    mutating func add(_ id: UInt64, _ lookup: PostgresLookup, key: [UInt8], _ continuation: Continuation) {
        guard callers.count < maxCallers else { return continuation.resume(returning: .failure(.tooManyWaiting)) }
        callers[id] = Caller(continuation: continuation)
        lookups[lookup, default: Lookups()].waiting.append((id, key))
    }

    /// Removes a caller, if it is here.
    ///
    /// - Returns: Whether it was here, and the statement that has no callers any more.
    mutating func cancel(_ id: UInt64) -> (wasHere: Bool, abandoned: UInt64?) {
        guard let caller = callers.removeValue(forKey: id) else { return (false, nil) }
        caller.continuation.resume(returning: .failure(.cancelled))
        guard let statementID = caller.statementID else {
            for lookup in lookups.keys { lookups[lookup]?.waiting.removeAll { $0.id == id } }
            return (true, nil)
        }
        let isShared = callers.values.contains { $0.statementID == statementID }
        return (true, isShared ? nil : statementID)
    }

    /// Takes the look-ups that are to be sent now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - makeID: Makes the id of a statement.
    /// - Returns: The statements, and when to ask again, although nothing happened.
    mutating func takeBatches(
        now: ContinuousClock.Instant,
        makeID: () -> UInt64
    ) -> (batches: [Batch], deadline: ContinuousClock.Instant?) {
        var batches: [Batch] = []
        var deadline: ContinuousClock.Instant?
        for (lookup, state) in lookups where !state.waiting.isEmpty {
            if let underWay = state.underWay, now - underWay.start < slowness {
                deadline = earlier(deadline, underWay.start + slowness)
                continue
            }
            let taken = Array(state.waiting.prefix(PostgresLookup.maxKeys))
            let batch = Batch(statementID: makeID(), lookup: lookup, callers: taken)
            lookups[lookup]?.waiting.removeFirst(taken.count)
            lookups[lookup]?.underWay = (batch.statementID, now)
            for caller in taken { callers[caller.id]?.statementID = batch.statementID }
            batches.append(batch)
        }
        return (batches, deadline)
    }

    /// Answers the callers of a statement.
    mutating func finish(_ batch: Batch, _ outcome: Result<PostgresRows, PostgresError>) {
        let lookup = batch.lookup
        if lookups[lookup]?.underWay?.id == batch.statementID { lookups[lookup]?.underWay = nil }
        // A look-up without callers is removed.
        if let state = lookups[lookup], state.underWay == nil, state.waiting.isEmpty { lookups[lookup] = nil }
        let found = outcome.flatMap { PostgresLookup.rows($0, keyCount: batch.callers.count) }
        for (index, caller) in batch.callers.enumerated() {
            callers.removeValue(forKey: caller.id)?.continuation.resume(returning: found.map { $0[index] })
        }
    }
}
