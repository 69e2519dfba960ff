import Deadlines

/// Ends an operation when the store is silent for too long, or when it takes too long as a whole.
///
/// AsyncHTTPClient's own timeouts do not suffice. Its read timeout starts when the request's end is written, so it
/// never runs during an upload. It runs on while a slow reader of ours leaves the answer's bytes waiting. Its write
/// timeout is off while the socket takes nothing, and that is how a store hangs. Its deadline ends with the answer's
/// head.
struct Watchdog: Sendable {
    /// The longest time without a sign of life.
    let silence: Duration
    /// When everything must be over.
    let end: ContinuousClock.Instant
    let time: S3Time

    /// Runs the operation, or cancels it.
    ///
    /// - Parameters:
    ///   - transfer: where signs of life are noted.
    ///   - operation: must end soon when its task is cancelled.
    /// - Returns: what the operation returned.
    /// - Throws: `CancellationError`, ``S3NoAnswer/silent``, ``S3NoAnswer/overdue`` or the operation's error.
    func run<Success: Sendable>(
        _ transfer: Transfer,
        operation: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        try await race(operation) { try await watch(transfer) }
    }

    private func watch(_ transfer: Transfer) async throws -> S3NoAnswer {
        while true {
            // Before the last sign of life is looked at, so that one which comes in between counts.
            let now = time.now()
            let quietUntil = transfer.lastSignOfLife + silence
            if now >= end { return .overdue }
            if now >= quietUntil { return .silent }
            try await time.sleep(min(quietUntil, end))
        }
    }
}
