import Deadlines

/// Ends an operation that the store leaves without a sign of life, or that takes too long altogether.
///
/// AsyncHTTPClient's own timeouts do not do. Its read timeout starts when the request's end is written, so it never
/// runs during an upload. It runs on while a slow reader of ours leaves the answer's bytes waiting. Its write timeout
/// is switched off while the socket takes nothing, which is the very case of a store that hangs. Its deadline ends with
/// the answer's head.
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
            let quietUntil = transfer.lastSignOfLife + silence
            let now = time.now()
            if now >= end { return .overdue }
            if now >= quietUntil { return .silent }
            try await time.sleep(min(quietUntil, end))
        }
    }
}
