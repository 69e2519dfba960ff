import NIOCore

/// Calls at a deadline, once; of several deadlines, only the earliest counts.
struct WakeUpCall {
    private var scheduled: (deadline: ContinuousClock.Instant, task: Scheduled<Void>)?

    /// Asks for a call.
    ///
    /// An earlier call stays as it is. Its handler requests the next one.
    mutating func ask(
        for deadline: ContinuousClock.Instant?,
        on eventLoop: any EventLoop,
        _ call: @escaping @Sendable () -> Void
    ) {
        guard let deadline else { return }
        if let scheduled {
            guard deadline < scheduled.deadline else { return }
            scheduled.task.cancel()
        }
        // Rounded up: a call that is a part of a nanosecond early finds nothing to do.
        let delay = deadline - eventLoop.instant + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)
        scheduled = (deadline, eventLoop.scheduleTask(in: max(.zero, TimeAmount(delay)), call))
    }

    /// The call has come.
    mutating func called() {
        scheduled = nil
    }

    mutating func cancel() {
        scheduled?.task.cancel()
        scheduled = nil
    }
}

/// The first of two instants; nil stands for none.
func earlier(_ first: ContinuousClock.Instant?, _ second: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
