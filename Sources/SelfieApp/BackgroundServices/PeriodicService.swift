import ServiceLifecycle

/// Does work again and again until the service shuts down.
struct PeriodicService: Service {
    /// The pause between two times.
    let interval: Duration
    /// The work.
    ///
    /// It is done at once, and then after each pause.
    let work: @Sendable () async throws -> Void
    /// The work to do once when the service shuts down.
    var atEnd: @Sendable () async -> Void = {}

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await work() } catch  where Task.isCancelled { break }
                try? await Task.sleep(for: interval)
            }
        }
        await atEnd()
    }
}
