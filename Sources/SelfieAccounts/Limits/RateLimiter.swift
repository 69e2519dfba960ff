import Concurrency
import Cryptography
import Encodings
import FoundationEssentials

/// Counts actions for all processes together, and refuses those beyond a limit.
package struct RateLimiter: Sendable {
    private let store: RateLimitStore
    private let audit: AuditStore
    /// Nil when they are off.
    private let limits: RateLimits?
    private let authenticator: HMACSHA256
    private let memory = RefusalMemory()
    private let clock: any MonotonicClock

    /// - Parameters:
    ///   - store: Where the counts are.
    ///   - audit: Receives an event when a limit begins to refuse.
    ///   - limits: The limits; nil for none.
    ///   - secret: The key for hashing the names of counts, so that a reader of the table learns no names.
    ///   - clock: The clock by which refusals are remembered.
    init(
        store: RateLimitStore,
        audit: AuditStore,
        limits: RateLimits?,
        secret: String,
        clock: any MonotonicClock
    ) {
        self.clock = clock
        self.store = store
        self.audit = audit
        self.limits = limits
        authenticator = HMACSHA256(key: Array("rate limits\0\(secret)".utf8))
    }

    /// Counts the actions of a request.
    ///
    /// - Parameters:
    ///   - actions: The actions. When one is refused, those before it are given back, and those after it are not
    ///     counted.
    ///   - userID: The account's id; nil when there is none.
    ///   - source: Where the request came from.
    /// - Returns: The counts, which can be undone.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    @discardableResult
    package func count(
        _ actions: [LimitedAction],
        ofUser userID: Int?,
        from source: RequestSource
    ) async throws -> CountedActions {
        guard let limits else { return CountedActions() }
        let keys = actions.map { key(of: $0) }
        try requireNotRefused(keys)
        var counted = CountedActions()
        for (action, key) in zip(actions, keys) {
            let limit = limits[action.limit].times(action.factor)
            let outcome = try await givingBack(
                counted,
                onFailureOf: {
                    try await store.count(key, amount: action.amount, limit: limit)
                }
            )
            switch outcome {
            case .counted(let increment): counted.add(increment, isForgiven: action.isForgiven)
            case .refused(let refusal):
                // Others may have used up the account's attempts. That must not count for this address.
                await giveBack(counted)
                let exceeded = RateLimitExceeded(name: action.limit, limit: limit, secondsLeft: refusal.secondsLeft)
                if refusal.isFull { memory.remember(key, exceeded, now: clock.now) }
                if refusal.isFirst { try await audit.add(action.refusal, userID: userID, from: source) }
                throw exceeded
            }
        }
        return counted
    }

    /// Refuses what was refused a moment ago, without a look at the database.
    ///
    /// - Parameter action: What is counted later.
    /// - Throws: The last refusal.
    package func requireNotRefused(_ action: LimitedAction) throws(RateLimitExceeded) {
        try requireNotRefused([key(of: action)])
    }

    private func requireNotRefused(_ keys: [String]) throws(RateLimitExceeded) {
        for key in keys {
            if let refusal = memory.refusal(of: key, now: clock.now) { throw refusal }
        }
    }

    /// Undoes counts.
    ///
    /// A failure does not stop the request. It is finished also for a client that has left.
    package func giveBack(_ counted: CountedActions) async {
        let increments = counted.forgiven + counted.unforgiven
        guard !increments.isEmpty else { return }
        try? await Task { try await store.giveBack(increments) }.value
        memory.forget(increments.map(\.key))
    }

    /// Undoes a part of the count of one action.
    ///
    /// - Parameters:
    ///   - amount: How much of its amount.
    ///   - counted: The count.
    package func giveBack(_ amount: Int, of counted: CountedActions) async {
        guard amount > 0 else { return }
        await giveBack(counted.limited(to: amount))
    }

    /// Runs work, and undoes the counts if the work fails.
    ///
    /// If the client disconnects before the answer, the counts stay.
    package func givingBack<Result>(
        _ counted: CountedActions,
        onFailureOf body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            if !Task.isCancelled { await giveBack(counted) }
            throw error
        }
    }

    /// Tries a password that was counted as wrong.
    ///
    /// Undoes the count if it was correct or could not be checked.
    ///
    /// - Parameters:
    ///   - counted: The count. It is empty after it was undone.
    ///   - verify: Tries it.
    /// - Returns: Whether it was right.
    /// - Throws: What the body throws.
    func givingBack(
        _ counted: inout CountedActions,
        unlessWrong verify: () async throws -> Bool
    ) async throws -> Bool {
        let isRight = try await givingBack(counted, onFailureOf: verify)
        if isRight {
            await giveBack(counted.onlyForgiven)
            counted = CountedActions()
        }
        return isRight
    }

    /// The key of an action in the table.
    ///
    /// It is a hash, without names.
    private func key(of action: LimitedAction) -> String {
        let name = Array(action.name.utf8)
        return authenticator.code { hash in hash.update(name) }.withUnsafeBytes { $0.hexadecimal }
    }
}

/// Counts against limits.
package struct CountedActions: Sendable {
    fileprivate private(set) var forgiven: [RateLimitStore.Increment] = []
    /// These also count for correct passwords.
    fileprivate private(set) var unforgiven: [RateLimitStore.Increment] = []

    package init() {}

    fileprivate mutating func add(_ increment: RateLimitStore.Increment, isForgiven: Bool) {
        if isForgiven { forgiven.append(increment) } else { unforgiven.append(increment) }
    }

    fileprivate func limited(to amount: Int) -> CountedActions {
        var counted = self
        for position in counted.forgiven.indices { counted.forgiven[position].amount = amount }
        return counted
    }

    fileprivate var onlyForgiven: CountedActions {
        var counted = self
        counted.unforgiven = []
        return counted
    }
}

/// Something was done too often.
package struct RateLimitExceeded: Error {
    package let name: RateLimitName
    package let limit: RateLimit
    /// Seconds until the window ends.
    package let secondsLeft: Int
}
