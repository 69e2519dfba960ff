import Budgets
package import Concurrency

/// The limits of a hasher.
package struct PasswordHasherOptions: Sendable {
    /// How many hashes are computed at once.
    var threadCount: Int

    /// How much work may wait for each thread.
    ///
    /// At cost 12, each takes a quarter of a second. Networks take turns. So a network waits for as many turns as there are networks that wait, up to ``maxWait``.
    var waitingPerThread = 384
    /// How much of it may be one network's.
    package var waitingPerNetworkAndThread = 28
    /// How much of that may be for one account.
    package var waitingPerAccountAndThread = 24

    /// How long work may wait for its turn.
    ///
    /// A request has 27 seconds in all.
    var maxWait: Duration = .seconds(8)

    /// The clock for that wait.
    package var clock: any MonotonicClock = ContinuousClock()

    /// Called for each hash, on the thread that is about to compute it.
    var willCompute: BCrypt.Observer = { _ in }

    var limits: FairSemaphore.Limits {
        FairSemaphore.Limits(
            permits: threadCount,
            waiting: threadCount * waitingPerThread,
            waitingPerGroup: threadCount * waitingPerNetworkAndThread,
            waitingPerMember: threadCount * waitingPerAccountAndThread
        )
    }

    /// One thread fewer than there are cores, so that requests keep one.
    ///
    /// - Parameter coreCount: How many cores there are.
    package init(coreCount: Int) {
        threadCount = max(1, coreCount - 1)
    }
}
