import Synchronization

/// Takes what can't be copied to another thread, once.
final class Handover<Value: ~Copyable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: consuming sending Value) {
        self.value = Mutex(value)
    }

    func take() -> sending Value? {
        value.withLock { value in value.take() }
    }
}
