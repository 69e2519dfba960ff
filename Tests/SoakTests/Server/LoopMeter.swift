import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Measures for how long work holds the event loops that services use.
///
/// It counts the processor's time of each loop's thread between two of its own tasks. So a busy machine does not matter.
final class LoopMeter: Sendable {
    private let longest = Mutex<TimeAmount>(.zero)
    /// What the thread of each loop had used when it was looked at last.
    private let lastTimes: [NIOLoopBoundBox<TimeAmount?>]

    /// Measures from now on, until nobody needs it any more.
    init() {
        lastTimes = MultiThreadedEventLoopGroup.singleton.makeIterator().map { loop in
            NIOLoopBoundBox.makeBoxSendingValue(TimeAmount?.none, eventLoop: loop)
        }
        for last in lastTimes {
            last.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { [weak self] task in
                guard let self else { return task.cancel() }
                note(last)
            }
        }
    }

    /// The longest time since it was taken last, with what each loop does at the moment.
    func take() async throws -> TimeAmount {
        // A loop that is held notes that only afterwards.
        for last in lastTimes { try await last.eventLoop.submit { self.note(last) }.get() }
        return longest.withLock { longest in
            defer { longest = .zero }
            return longest
        }
    }

    private func note(_ last: NIOLoopBoundBox<TimeAmount?>) {
        let now = Self.threadTime
        if let before = last.value { longest.withLock { $0 = max($0, now - before) } }
        last.value = now
    }

    private static var threadTime: TimeAmount {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
