import Dispatch
import Foundation
import Synchronization

/// A serial executor with a thread of its own, on which one connection's blocking calls run.
///
/// The shared pool of Swift's concurrency has one thread per core, so a call that waits for the network must not run
/// there.
final class ConnectionExecutor: SerialExecutor {
    private let queue = JobQueue()

    init() {
        // The thread holds the queue, not the executor, so that dropping the executor ends it.
        let queue = queue
        Thread.detachNewThread { queue.run() }
    }

    deinit {
        queue.finish()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        queue.append(JobQueue.Entry(job: UnownedJob(job), executor: asUnownedSerialExecutor()))
    }
}

private final class JobQueue: Sendable {
    struct Entry: Sendable {
        let job: UnownedJob
        let executor: UnownedSerialExecutor
    }

    private struct State {
        var entries: [Entry] = []
        var isFinished = false
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)

    func append(_ entry: Entry) {
        state.withLock { $0.entries.append(entry) }
        wakeUp.signal()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        wakeUp.signal()
    }

    func run() {
        while true {
            wakeUp.wait()
            let (entries, isFinished) = state.withLock { state in
                let taken = state.entries
                state.entries = []
                return (taken, state.isFinished)
            }
            for entry in entries { entry.job.runSynchronously(on: entry.executor) }
            if isFinished { return }
        }
    }
}
