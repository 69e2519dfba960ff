/// When another attempt follows a failed one, and after which pause.
///
/// Capped exponential back-off with full jitter. Source: AWS Builders' Library, "Timeouts, retries, and backoff with
/// jitter".
package struct S3RetryPolicy: Sendable {
    /// The most attempts that one request gets, the first included.
    static let maxAttempts = 3
    /// The longest pause after the first attempt.
    ///
    /// It doubles with each further one.
    static let firstPause: Duration = .milliseconds(100)
    /// The longest pause of all.
    static let maxPause: Duration = .seconds(1)

    private let random: @Sendable (ClosedRange<Double>) -> Double
    /// Called before each further attempt.
    package var onRetry: @Sendable () -> Void = {}

    /// - Parameter random: draws a number evenly from the range.
    package init(random: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }) {
        self.random = random
    }

    /// The pause before the next attempt, or nil to give up.
    ///
    /// - Parameters:
    ///   - error: how the last attempt ended.
    ///   - attempts: how many there were, at least 1.
    ///   - elapsed: since the call began.
    ///   - window: the time after which no further attempt begins.
    /// - Returns: how long to wait; nil when the error is final, the attempts are used up or the window would have closed.
    func pause(after error: S3Error, attempts: Int, elapsed: Duration, window: Duration) -> Duration? {
        guard error.isRetryable, attempts < Self.maxAttempts else { return nil }
        let longest = min(Self.maxPause, Self.firstPause * (1 << (attempts - 1)))
        let pause = longest * random(0...1)
        return elapsed + pause <= window ? pause : nil
    }
}
