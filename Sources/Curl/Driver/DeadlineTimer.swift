import CLibCurl
import Concurrency
import Glibc

/// Calls a handler on the watcher's thread at a deadline.
///
/// It may call earlier, too: a deadline that moves away leaves the timer as it is, which saves a system call.
final class DeadlineTimer {
    private let timer: CInt
    private let watchID: UInt64
    private var armed: ContinuousClock.Instant?

    /// Makes a timer that is off; nil when there is no descriptor for it.
    init?(_ handler: @escaping @Sendable () -> Void) {
        timer = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        guard timer >= 0 else { return nil }
        watchID = SocketWatcher.shared.add(timer) { _ in handler() }
    }

    deinit {
        SocketWatcher.shared.remove(timer, id: watchID)
        close(timer)
    }

    /// The handler was called, and the timer is off.
    func fired() {
        armed = nil
    }

    func arm(for deadline: ContinuousClock.Instant) {
        if let armed, armed <= deadline { return }
        armed = deadline
        let delay = max(.nanoseconds(1), ContinuousClock.now.duration(to: deadline))
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(delay.components.seconds)
        setting.it_value.tv_nsec = Int(delay.components.attoseconds / 1_000_000_000)
        // Zero would switch it off.
        if setting.it_value.tv_sec == 0, setting.it_value.tv_nsec == 0 { setting.it_value.tv_nsec = 1 }
        // Setting it also makes it unreadable.
        timerfd_settime(timer, 0, &setting, nil)
        _ = SocketWatcher.shared.watch(timer, id: watchID, for: .readable)
    }
}
