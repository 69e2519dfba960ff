/// When a failed try is repeated, and after which pause.
///
/// Capped exponential back-off with full jitter. Source: AWS Builders' Library, "Timeouts, retries, and backoff with
/// jitter".
package struct S3RetryPolicy: Sendable {
    /// The most tries that one request gets, the first included.
    static let maxTries = 3
    /// The longest pause after the first try.
    ///
    /// It doubles with each further try.
    static let firstPause: Duration = .milliseconds(100)
    /// The longest pause of all.
    static let maxPause: Duration = .seconds(1)

    private let random: @Sendable (ClosedRange<Double>) -> Double
    let sleep: @Sendable (Duration) async throws -> Void
    /// Called before each further try.
    package var onRetry: @Sendable () -> Void = {}

    /// Takes the sources of chance and time.
    ///
    /// - Parameters:
    ///   - random: draws a number evenly from the range.
    ///   - sleep: returns after the duration, or throws when its task is cancelled.
    package init(
        random: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.random = random
        self.sleep = sleep
    }

    /// The pause before the next try, or nil to give up.
    ///
    /// - Parameters:
    ///   - error: how the last try ended.
    ///   - tries: how many there were, at least 1.
    ///   - elapsed: since the call began.
    ///   - window: the time after which no further try begins.
    /// - Returns: how long to wait; nil when the error is final, the tries are used up or the window would have closed.
    func pause(after error: S3Error, tries: Int, elapsed: Duration, window: Duration) -> Duration? {
        guard error.isRetryable, tries < Self.maxTries else { return nil }
        let longest = min(Self.maxPause, Self.firstPause * (1 << (tries - 1)))
        let pause = longest * random(0...1)
        return elapsed + pause <= window ? pause : nil
    }
}
