import ServiceLifecycle

/// Does work again and again until the service shuts down.
struct PeriodicService: Service {
    /// The pause between two times.
    let interval: Duration
    /// The work.
    ///
    /// It is done at once, and then after each pause.
    let work: @Sendable () async throws -> Next
    /// The work to do once when the service shuts down.
    var atEnd: @Sendable () async -> Void = {}

    /// Whether the work is done again.
    enum Next {
        case again
        /// The work is finished.
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
        // If one service ends, the group ends all others.
        try? await gracefulShutdown()
        await atEnd()
    }
}
