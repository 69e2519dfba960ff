import NIOCore

/// Where the clock of all event loops begins.
private let epoch = ContinuousClock.now - .nanoseconds(NIODeadline.now().uptimeNanoseconds)

extension EventLoop {
    /// The loop's own time, by which its timers go, too: a loop of a test says when it moves on.
    var instant: ContinuousClock.Instant { epoch + .nanoseconds(now.uptimeNanoseconds) }
}
