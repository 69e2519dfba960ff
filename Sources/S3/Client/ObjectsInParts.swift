import Synchronization

/// How many objects go to the store in parts at the moment.
final class ObjectsInParts: Sendable {
    private let number = Mutex(0)

    var count: Int { number.withLock { $0 } }

    func begin() { number.withLock { $0 += 1 } }

    func end() { number.withLock { $0 -= 1 } }
}
