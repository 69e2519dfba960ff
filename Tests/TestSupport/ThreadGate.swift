import Dispatch
import Synchronization

/// Holds up threads that pass it, until a test lets them go, and keeps what each passed with.
package final class ThreadGate: Sendable {
    private struct State {
        var passed: [Int] = []
        var isOpen = false
        var held: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())
    private let holds: @Sendable (_ number: Int, _ value: Int) -> Bool

    /// - Parameter holds: Whether it holds up a thread: by how many have come, with this one, and by its value.
    package init(holding holds: @escaping @Sendable (_ number: Int, _ value: Int) -> Bool = { _, _ in true }) {
        self.holds = holds
    }

    /// A gate that holds nothing up and only records what passed.
    package static func recorder() -> ThreadGate { ThreadGate { _, _ in false } }

    /// What each thread came with, in the order in which they came.
    package var passed: [Int] { state.withLock { $0.passed } }

    /// How many threads it holds up.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// Forgets what was passed.
    package func forget() {
        state.withLock { $0.passed = [] }
    }

    /// Passes the gate, once it lets this thread.
    package func pass(_ value: Int) {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            state.passed.append(value)
            guard !state.isOpen, holds(state.passed.count, value) else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.held.append(semaphore)
            return semaphore
        }
        semaphore?.wait()
    }

    /// Lets go all threads, those that come later too.
    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for semaphore in held { semaphore.signal() }
    }

    /// Lets go the thread that it has held up for longest.
    package func letOneGo() {
        let semaphore = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
        semaphore?.signal()
    }

    /// Holds up threads again.
    package func close() {
        state.withLock { $0.isOpen = false }
    }
}
