import Testing

@testable import HTTPConnection

@Suite("A task that others cancel")
struct CancellableTaskTests {
    @Test("What was cancelled before it began is cancelled from its beginning on")
    func before() async {
        let task = CancellableTask()
        task.cancel()
        await Task { await task.run { #expect(Task.isCancelled) } }.value
    }

    @Test("What runs is cancelled, and told at once")
    func during() async {
        let task = CancellableTask()
        await Task {
            await task.run {
                #expect(!Task.isCancelled)
                task.cancel()
                #expect(Task.isCancelled)
            }
        }
        .value
    }

    @Test("What comes after it in the same task is not cancelled")
    func after() async {
        let task = CancellableTask()
        await Task {
            await task.run {}
            task.cancel()
            #expect(!Task.isCancelled)
        }
        .value
    }
}
