import NIOCore

/// Calls at a deadline, once; only the earliest of those that were asked for counts.
struct WakeUpCall {
    private var scheduled: (deadline: ContinuousClock.Instant, task: Scheduled<Void>)?

    /// Asks for a call.
    ///
    /// One that is due earlier stays as it is: whoever is called asks anew for what comes next.
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
        // Rounded up, since a call that came part of a nanosecond early would be for nothing.
        let delay = deadline - eventLoop.instant + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)
        scheduled = (deadline, eventLoop.scheduleTask(in: .nanoseconds(max(0, delay.nanoseconds)), call))
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

/// The first of two instants, of which nil is none.
func earlier(_ first: ContinuousClock.Instant?, _ second: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
