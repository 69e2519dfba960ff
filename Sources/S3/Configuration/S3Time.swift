/// The clock of the deadlines, and how to wait for one.
package struct S3Time: Sendable {
    let now: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void

    /// Takes the time from somewhere.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - sleep: returns at the instant, or throws when its task is cancelled.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The system's monotonic time, which nobody can set.
    package static let system = S3Time(
        now: { .now },
        sleep: { try await Task.sleep(until: $0, clock: .continuous) }
    )
}
