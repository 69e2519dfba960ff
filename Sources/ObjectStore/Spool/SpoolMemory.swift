import Synchronization

/// Memory that uploads share beyond their own part.
///
/// An upload that finds none left goes on in a file.
///
/// Writing a photo to a file and reading it again costs a sixth of an upload. Memory for all uploads would have no
/// limit.
package final class SpoolMemory: Sendable {
    /// The most bytes of photos that wait in memory for the store, of all uploads of a process.
    static let usualMaxBytes = 192 * 1024 * 1024

    private let maxBytes: Int
    private let used = Mutex(0)

    /// - Parameter maxBytes: The most bytes of all reservations together.
    package init(maxBytes: Int = usualMaxBytes) {
        self.maxBytes = maxBytes
    }

    var bytesUsed: Int { used.withLock { $0 } }

    fileprivate func take(_ bytes: Int) -> Bool {
        used.withLock { used in
            guard used + bytes <= maxBytes else { return false }
            used += bytes
            return true
        }
    }

    fileprivate func giveBack(_ bytes: Int) {
        used.withLock { $0 -= bytes }
    }
}

/// One upload's part of the shared memory.
///
/// It is given back when this is dropped.
final class SpoolReservation: Sendable {
    private let memory: SpoolMemory
    private let bytes = Mutex(0)

    /// - Parameter memory: The shared memory.
    init(of memory: SpoolMemory) {
        self.memory = memory
    }

    deinit {
        giveBack()
    }

    /// Takes more memory, if that much is left.
    ///
    /// - Returns: Whether there was.
    func grow(by more: Int) -> Bool {
        guard memory.take(more) else { return false }
        bytes.withLock { $0 += more }
        return true
    }

    /// Gives everything back.
    func giveBack() {
        memory.giveBack(
            bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            }
        )
    }
}
