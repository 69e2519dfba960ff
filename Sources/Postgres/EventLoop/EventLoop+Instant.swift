import NIOCore

/// Where the clock of all event loops begins.
private let epoch = ContinuousClock.now - .nanoseconds(NIODeadline.now().uptimeNanoseconds)

extension EventLoop {
    /// The loop's own time, which its timers use too.
    ///
    /// A test's loop sets it.
    var instant: ContinuousClock.Instant { epoch + .nanoseconds(now.uptimeNanoseconds) }
}
