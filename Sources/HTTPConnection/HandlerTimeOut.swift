import Synchronization

/// Whether a connection has answered its last request itself, since the handler took too long.
package final class HandlerTimeOut: Sendable {
    private let flag = Atomic(false)

    package var hasPassed: Bool { flag.load(ordering: .relaxed) }

    func pass() {
        flag.store(true, ordering: .relaxed)
    }
}
