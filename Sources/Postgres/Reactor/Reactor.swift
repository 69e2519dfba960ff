import Foundation
import Glibc
import NIOConcurrencyHelpers
import Synchronization

/// A serial executor with one thread, which runs an actor's jobs and in between waits for the actor's sockets.
///
/// What would be a hand-over between threads for each answer of a server is a look at `poll(2)` here, and all that is
/// to be written when the jobs are done goes out at once.
final class Reactor: SerialExecutor {
    /// What to wait for.
    struct Wait: Sendable {
        /// The sockets, with the events that are of interest.
        var sockets: [pollfd] = []
        /// When to go on at the latest; nil for no limit.
        var deadline: ContinuousClock.Instant?
    }

    private struct Mailbox {
        var jobs: [UnownedJob] = []
        var isWaiting = false
        var isFinished = false
    }

    private let mailbox = NIOLockedValueBox(Mailbox())
    private let thread = Atomic<UInt>(0)
    /// A pair of sockets: a job that arrives during a wait writes a byte, which ends the wait.
    private let alarm: (output: CInt, input: CInt)

    init() {
        var ends: [CInt] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        precondition(socketpair(AF_UNIX, CInt(type), 0, &ends) == 0, "the process has no file descriptor left")
        alarm = (ends[0], ends[1])
    }

    deinit {
        close(alarm.output)
        close(alarm.input)
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - prepare: Called on the thread before each wait; says what to wait for.
    ///   - handle: Called on the thread after each wait, with the sockets that are ready.
    func start(prepare: @escaping @Sendable () -> Wait, handle: @escaping @Sendable ([pollfd]) -> Void) {
        Thread.detachNewThread { [self] in
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            while runJobs() {
                let wait = prepare()
                handle(ready(after: wait))
            }
            // Nothing runs here again, so nobody else may be taken for this thread.
            thread.store(0, ordering: .relaxed)
        }
    }

    /// Ends the thread once the jobs that are there have run; later ones never do.
    func finish() {
        let isWaiting = mailbox.withLockedValue { mailbox in
            mailbox.isFinished = true
            return mailbox.isWaiting
        }
        if isWaiting { wakeUp() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isWaiting = mailbox.withLockedValue { mailbox in
            mailbox.jobs.append(job)
            defer { mailbox.isWaiting = false }
            return mailbox.isWaiting
        }
        if isWaiting { wakeUp() }
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the reactor's thread")
    }

    func isIsolatingCurrentContext() -> Bool? {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    private func wakeUp() {
        // It fails only when the socket is full, and then the thread has been told often enough.
        var byte: UInt8 = 0
        _ = write(alarm.input, &byte, 1)
    }

    /// Runs what has arrived; false when there is nothing more to come.
    private func runJobs() -> Bool {
        var jobs: [UnownedJob] = []
        let isFinished = mailbox.withLockedValue { mailbox in
            swap(&mailbox.jobs, &jobs)
            return mailbox.isFinished
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        return !(isFinished && jobs.isEmpty)
    }

    private func ready(after wait: Wait) -> [pollfd] {
        let mayWait = mailbox.withLockedValue { mailbox in
            mailbox.isWaiting = mailbox.jobs.isEmpty && !mailbox.isFinished
            return mailbox.isWaiting
        }
        var descriptors = wait.sockets
        descriptors.append(pollfd(fd: alarm.output, events: Int16(POLLIN), revents: 0))
        // An interrupted wait is one that ended early.
        let count = poll(&descriptors, nfds_t(descriptors.count), mayWait ? Self.milliseconds(until: wait.deadline) : 0)
        if mayWait { mailbox.withLockedValue { $0.isWaiting = false } }
        guard count > 0 else { return [] }
        if let alarm = descriptors.popLast(), alarm.revents != 0 {
            var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
            _ = read(alarm.fd, &bytes, bytes.count)
        }
        return descriptors.filter { $0.revents != 0 }
    }

    /// The time left in `poll`'s terms: -1 for no limit, rounded up so that a wait never ends early.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
        guard let deadline else { return -1 }
        let left = (deadline - .now).components
        let milliseconds = left.seconds * 1000 + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return CInt(clamping: max(0, milliseconds))
    }
}

/// The first of two instants, of which nil is none.
func earlier(_ first: ContinuousClock.Instant?, _ second: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
