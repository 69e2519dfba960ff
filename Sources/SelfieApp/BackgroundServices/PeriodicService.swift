import ServiceLifecycle

/// Does something again and again until the service shuts down.
struct PeriodicService: Service {
    /// How long it waits in between.
    let interval: Duration
    /// Done at once, and then again and again.
    let work: @Sendable () async throws -> Next
    /// Done once when the service shuts down.
    var atEnd: @Sendable () async -> Void = {}

    /// What comes after the work.
    enum Next {
        case again
        /// It need not be done any more.
        case never
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    if case .never = try await work() { break }
                } catch  where Task.isCancelled {
                    break
                }
                try? await Task.sleep(for: interval)
            }
        }
        // A service that ends would end all others.
        try? await gracefulShutdown()
        await atEnd()
    }
}
