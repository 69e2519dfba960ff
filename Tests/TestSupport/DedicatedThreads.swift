import NIOPosix

/// Four threads for the tasks of one test, so that a blocked one does not delay other tests.
package final class DedicatedThreads: TaskExecutor {
    private let pool = NIOThreadPool(numberOfThreads: 4)

    package init() { pool.start() }

    deinit { pool.shutdownGracefully { _ in } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
