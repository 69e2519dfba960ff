/// The limits of a hasher.
package struct PasswordHasherOptions: Sendable {
    /// How many hashes are computed at once.
    var threadCount: Int

    /// How much work may be waiting or under way for each thread: at cost 12, a quarter of a second each.
    var maxWaitingPerThread = 48

    /// How long work may wait for its turn.
    ///
    /// A request has 27 seconds in all.
    var maxWait: Duration = .seconds(8)

    /// The clock for that wait.
    var now: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Called for each hash, on the thread that is about to compute it.
    var willCompute: BCrypt.Observer = { _ in }

    /// One thread fewer than there are cores, so that requests keep one.
    ///
    /// - Parameter coreCount: How many cores there are.
    package init(coreCount: Int) {
        threadCount = max(1, coreCount - 1)
    }
}
