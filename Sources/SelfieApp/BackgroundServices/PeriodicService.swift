import ServiceLifecycle

/// Does work again and again until the service shuts down.
struct PeriodicService: Service {
    /// The pause between two times.
    let interval: Duration
    /// The work.
    ///
    /// It is done a second after the start, or after a pause if that is shorter, and then after each pause. So a process
    /// that starts answers requests first.
    let work: @Sendable () async throws -> Void
    /// The work to do once when the service shuts down.
    var atEnd: @Sendable () async -> Void = {}

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try? await Task.sleep(for: min(interval, .seconds(1)))
            while !Task.isCancelled {
                do { try await work() } catch  where Task.isCancelled { break }
                try? await Task.sleep(for: interval)
            }
        }
        await atEnd()
    }
}
