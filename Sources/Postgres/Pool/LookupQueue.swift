/// Decides which look-ups of several callers go in one statement.
///
/// It does no I/O.
///
/// Those that come while another statement of the same look-up is under way wait for it, and go together. So the more
/// callers there are, the more of them share a statement. Nobody waits behind a statement that turns out slow.
struct LookupQueue {
    typealias CallerID = UInt64
    typealias StatementID = UInt64

    /// Look-ups that go in one statement.
    struct Batch {
        let id: StatementID
        let lookup: PostgresLookup
        let callers: [CallerID]
        let query: PostgresQuery
    }

    /// Callers of one look-up.
    private struct Callers {
        var waiting: [(id: CallerID, key: [UInt8])] = []
        /// The last statement, until it is answered.
        var underWay: (id: StatementID, start: ContinuousClock.Instant)?
    }

    private let maxCallers: Int
    private let slowness: Duration
    private var lookups: [PostgresLookup: Callers] = [:]
    /// The statement of each caller whose look-up is under way.
    private var statements: [CallerID: StatementID] = [:]

    init(limits: PoolLimits) {
        (maxCallers, slowness) = (limits.maxWaiters, limits.slowness)
    }

    /// How many callers have no answer yet.
    var callerCount: Int { lookups.values.reduce(statements.count) { $0 + $1.waiting.count } }

    /// A caller asks for the row of a key; false when too many do.
    mutating func add(_ id: CallerID, _ lookup: PostgresLookup, key: [UInt8]) -> Bool {
        guard callerCount < maxCallers else { return false }
        lookups[lookup, default: Callers()].waiting.append((id, key))
        return true
    }

    /// A caller leaves.
    ///
    /// - Returns: The statement that nobody waits for any more, if there is one.
    mutating func remove(_ id: CallerID) -> StatementID? {
        guard let statement = statements.removeValue(forKey: id) else {
            for lookup in lookups.keys { lookups[lookup]?.waiting.removeAll { $0.id == id } }
            return nil
        }
        return statements.values.contains(statement) ? nil : statement
    }

    /// The next look-ups to run; nil when none is due.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - makeID: Makes the statement's id.
    /// - Returns: A batch that counts as under way.
    mutating func next(now: ContinuousClock.Instant, makeID: () -> StatementID) -> Batch? {
        for (lookup, callers) in lookups where !callers.waiting.isEmpty && isFree(callers, now: now) {
            let wanted = callers.waiting.prefix(PostgresLookup.maxKeys)
            let batch = Batch(
                id: makeID(),
                lookup: lookup,
                callers: wanted.map(\.id),
                query: lookup.query(for: wanted.map(\.key))
            )
            lookups[lookup]?.waiting.removeFirst(wanted.count)
            lookups[lookup]?.underWay = (batch.id, now)
            for id in batch.callers { statements[id] = batch.id }
            return batch
        }
        return nil
    }

    /// When ``next(now:makeID:)`` may have something to say although nothing happened.
    var nextDeadline: ContinuousClock.Instant? {
        lookups.values.reduce(nil) { deadline, callers in
            callers.waiting.isEmpty ? deadline : earlier(deadline, callers.underWay.map { $0.start + slowness })
        }
    }

    /// A batch is answered.
    ///
    /// - Returns: For each of its callers, whether it is still there.
    mutating func finish(_ batch: Batch) -> [Bool] {
        if lookups[batch.lookup]?.underWay?.id == batch.id { lookups[batch.lookup]?.underWay = nil }
        // A text that nobody uses any more is forgotten.
        if let callers = lookups[batch.lookup], callers.underWay == nil, callers.waiting.isEmpty {
            lookups[batch.lookup] = nil
        }
        return batch.callers.map { statements.removeValue(forKey: $0) != nil }
    }

    private func isFree(_ callers: Callers, now: ContinuousClock.Instant) -> Bool {
        callers.underWay.map { now - $0.start >= slowness } ?? true
    }
}
