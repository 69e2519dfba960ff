import NIOPosix

/// Four threads that run one test's tasks, so that the test may hold one of them up and nobody else waits.
package final class OwnThreads: TaskExecutor {
    private let pool = NIOThreadPool(numberOfThreads: 4)

    package init() { pool.start() }

    deinit { pool.shutdownGracefully { _ in } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
