import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps a folder for one owner: another one, in this process or in another, can't have it meanwhile.
///
/// The system releases it when the process ends, however it ends.
final class FolderLock: Sendable {
    /// Nil once it was released.
    private let descriptor: Locked<Int32?>

    /// - Parameter folder: A folder that exists.
    /// - Throws: ``SelfieError/storage(_:)`` when somebody else has it.
    init(_ folder: URL) throws {
        let descriptor = try Disk.open(folder.appendingPathComponent("lock"), O_RDWR | O_CREAT)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw SelfieError.storage("Another Selfie of this app or of an extension uses the folder already.")
        }
        self.descriptor = Locked(descriptor)
    }

    deinit { release() }

    /// Lets others have the folder.
    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor {
                // A process that has just been forked has the descriptor, too, and would keep the lock for a moment.
                flock(open, LOCK_UN)
                close(open)
            }
            descriptor = nil
        }
    }
}
