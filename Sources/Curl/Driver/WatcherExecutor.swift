import CLibCurl
import Concurrency
import Glibc
import NIOConcurrencyHelpers

/// Runs an actor's work on the thread that watches sockets, so that libcurl is called from that thread only.
final class WatcherExecutor: SerialExecutor {
    static let shared = WatcherExecutor()

    private let jobs = NIOLockedValueBox<[UnownedJob]>([])
    /// Readable while there are jobs.
    private let event = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    private let watchID = NIOLockedValueBox<UInt64>(0)

    private init() {
        let event = event
        guard event >= 0 else { fatalError("the system has no descriptor for an eventfd(2)") }
        watchID.withLockedValue { $0 = SocketWatcher.shared.add(event) { [unowned self] _ in run() } }
        watch()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.withLockedValue { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { eventfd_write(event, 1) }
    }

    func checkIsolated() {
        precondition(SocketWatcher.shared.isOnThread, "libcurl was called from another thread")
    }

    private func run() {
        var count: eventfd_t = 0
        eventfd_read(event, &count)
        let taken = jobs.withLockedValue { jobs in
            defer { jobs.removeAll(keepingCapacity: true) }
            return jobs
        }
        for job in taken { job.runSynchronously(on: asUnownedSerialExecutor()) }
        watch()
    }

    private func watch() {
        let isWatched = SocketWatcher.shared.watch(event, id: watchID.withLockedValue { $0 }, for: .readable)
        guard isWatched else { fatalError("the system can't watch an eventfd(2)") }
    }
}
