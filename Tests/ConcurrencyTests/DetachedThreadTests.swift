import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Concurrency

@Suite("Detached threads")
struct DetachedThreadTests {
    private final class Names: Sendable {
        let list = Mutex<[String]>([])
    }

    @Test("More may block at once than Dispatch has threads for, each by its name")
    func many() {
        let (count, names) = (600, Names())
        let (begun, end, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        for _ in 0..<count {
            let hasBegun = DetachedThread.run("test thread") {
                let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                names.list.withLock { $0.append(name ?? "") }
                begun.signal()
                end.wait()
                ended.signal()
            }
            #expect(hasBegun)
        }
        for _ in 0..<count { #expect(begun.wait(timeout: .now() + 60) == .success) }
        #expect(names.list.withLock { $0 } == Array(repeating: "test thread\n", count: count))
        for _ in 0..<count { end.signal() }
        for _ in 0..<count { #expect(ended.wait(timeout: .now() + 60) == .success) }
    }
}
