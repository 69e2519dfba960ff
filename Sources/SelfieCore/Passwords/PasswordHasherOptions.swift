/// How much a hasher does at once and how much may wait for it.
package struct PasswordHasherOptions: Sendable {
    /// How many hashes are computed at once.
    var threadCount: Int

    /// How much work may be waiting or under way for each thread: at cost 12, a quarter of a second each.
    var maxWaitingPerThread = 48

    /// How long work may wait for its turn; the connection answers 503 after 27 seconds in all.
    var maxWait: Duration = .seconds(8)

    /// The time by which work waits.
    var now: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Told of each hash, by the thread that is about to compute it.
    var willCompute: BCrypt.Observer = { _ in }

    /// One thread fewer than there are cores, so that requests keep one.
    ///
    /// - Parameter coreCount: How many cores there are.
    package init(coreCount: Int) {
        threadCount = max(1, coreCount - 1)
    }
}
