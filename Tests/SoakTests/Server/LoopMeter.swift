import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Measures for how long work holds the event loops that services use.
///
/// It counts the processor's time of each loop's thread between two of its own tasks. So a busy machine does not matter.
final class LoopMeter: Sendable {
    private let longest = Mutex<TimeAmount>(.zero)

    /// Measures from now on, until the test's process ends.
    init() {
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            let last = NIOLoopBoundBox.makeBoxSendingValue(TimeAmount?.none, eventLoop: loop)
            loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { [weak self] task in
                guard let self else { return task.cancel() }
                let now = Self.threadTime
                if let before = last.value { self.note(now - before) }
                last.value = now
            }
        }
    }

    /// The longest time since it was taken last.
    func take() -> TimeAmount {
        longest.withLock { longest in
            defer { longest = .zero }
            return longest
        }
    }

    private func note(_ time: TimeAmount) {
        longest.withLock { $0 = max($0, time) }
    }

    private static var threadTime: TimeAmount {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
