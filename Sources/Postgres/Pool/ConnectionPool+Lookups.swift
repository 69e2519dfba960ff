/// Look-ups of several callers in one statement.
///
/// Those that come while another statement of the same look-up is under way wait for it, and go together. So the more
/// callers there are, the more of them share a statement. No caller waits behind a statement that turns out slow.
extension ConnectionPool {
    typealias LookupContinuation = CheckedContinuation<Result<PostgresRow?, PostgresError>, Never>

    struct LookupCaller {
        let continuation: LookupContinuation
        /// The statement that has the caller's key.
        var statement: UInt64?
    }

    /// Callers of one look-up.
    struct Lookups {
        var waiting: [(id: UInt64, key: [UInt8])] = []
        /// The last statement, until it is answered.
        var underWay: (id: UInt64, start: ContinuousClock.Instant)?
    }

    /// Finds the row of a key.
    nonisolated func lookUp(_ lookup: PostgresLookup, key: [UInt8]) async -> Result<PostgresRow?, PostgresError> {
        await awaiting { pool, id, continuation in
            pool.lookUp(lookup, key: key, id: id, continuation)
        }
    }

    private func lookUp(_ lookup: PostgresLookup, key: [UInt8], id: UInt64, _ continuation: LookupContinuation) {
        guard lookupCallers.count < maxWaiters else { return continuation.resume(returning: .failure(.tooManyWaiting)) }
        lookupCallers[id] = LookupCaller(continuation: continuation)
        lookups[lookup, default: Lookups()].waiting.append((id, key))
        scheduleTurn()
    }

    /// Removes a caller.
    ///
    /// A statement without callers is cancelled.
    ///
    /// - Returns: Whether it was here.
    func cancelLookup(_ id: UInt64) -> Bool {
        guard let caller = lookupCallers.removeValue(forKey: id) else { return false }
        caller.continuation.resume(returning: .failure(.cancelled))
        guard let statement = caller.statement else {
            for lookup in lookups.keys { lookups[lookup]?.waiting.removeAll { $0.id == id } }
            return true
        }
        if !lookupCallers.values.contains(where: { $0.statement == statement }) { cancel(statement) }
        return true
    }

    /// Sends the next statement for the waiting keys.
    ///
    /// - Parameter now: The time.
    /// - Returns: When to do so again, although nothing happened.
    func sendLookups(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var deadline: ContinuousClock.Instant?
        for (lookup, state) in lookups where !state.waiting.isEmpty {
            if let underWay = state.underWay, now - underWay.start < slowness {
                deadline = earlier(deadline, underWay.start + slowness)
                continue
            }
            let wanted = state.waiting.prefix(PostgresLookup.maxKeys)
            lookups[lookup]?.waiting.removeFirst(wanted.count)
            let id = makeID()
            for caller in wanted { lookupCallers[caller.id]?.statement = id }
            lookups[lookup]?.underWay = (id, now)
            let statement = Statement(
                id: id,
                content: .query(lookup.query(for: wanted.map(\.key))),
                timeout: configuration.statementTimeout.map { $0 + PostgresConfiguration.answerGrace },
                purpose: .shared,
                start: now
            ) { [unowned self] outcome in
                assumeIsolated { $0.finish(id, of: lookup, for: wanted.map(\.id), outcome) }
            }
            request(.statement, as: id, waiter: .statement(statement), now: now)
        }
        return deadline
    }

    private func finish(
        _ statementID: UInt64,
        of lookup: PostgresLookup,
        for ids: [UInt64],
        _ outcome: Result<PostgresRows, PostgresError>
    ) {
        if lookups[lookup]?.underWay?.id == statementID { lookups[lookup]?.underWay = nil }
        // A look-up without callers is removed.
        if let state = lookups[lookup], state.underWay == nil, state.waiting.isEmpty { lookups[lookup] = nil }
        scheduleTurn()
        let found = outcome.flatMap { PostgresLookup.rows($0, keyCount: ids.count) }
        for (index, id) in ids.enumerated() {
            lookupCallers.removeValue(forKey: id)?.continuation.resume(returning: found.map { $0[index] })
        }
    }
}
