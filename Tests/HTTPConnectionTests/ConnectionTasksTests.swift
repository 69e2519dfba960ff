import NIOPosix
import ServerProcesses
import Synchronization
import Testing

@testable import HTTPConnection

@Suite("The tasks of connections", .timeLimit(.minutes(1)))
struct ConnectionTasksTests {
    private let tasks = ConnectionTasks()
    private let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.any())

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool {
            get { value.load(ordering: .relaxed) }
            set { value.store(newValue, ordering: .relaxed) }
        }
    }

    /// Starts a task that runs until it is cancelled.
    private func startEndless() -> (task: Task<Void, Never>, isRunning: Flag) {
        let isRunning = Flag()
        let task = tasks.start(on: executor) {
            isRunning.isSet = true
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            isRunning.isSet = false
        }
        return (task, isRunning)
    }

    @Test("The end waits for all of them, and one alone can be cancelled")
    func finish() async throws {
        let (first, second) = (startEndless(), startEndless())
        try await poll("both run") { first.isRunning.isSet && second.isRunning.isSet }
        let hasFinished = Flag()
        let end = Task {
            await tasks.finish()
            hasFinished.isSet = true
        }
        first.task.cancel()
        await first.task.value
        #expect(!first.isRunning.isSet && second.isRunning.isSet && !hasFinished.isSet)
        second.task.cancel()
        await end.value
        #expect(!second.isRunning.isSet)
    }

    @Test("A cancelled end cancels them, and those that start later")
    func cancelled() async throws {
        let running = startEndless()
        try await poll("it runs") { running.isRunning.isSet }
        let end = Task { await tasks.finish() }
        end.cancel()
        await end.value
        #expect(!running.isRunning.isSet)
        await startEndless().task.value
    }
}
