import FoundationEssentials
import Glibc

/// The right to use a cluster's folder.
///
/// It ends with this value, or with the process.
struct ProcessLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock, without waiting.
    ///
    /// - Parameter directory: The cluster's folder. The file `lock` in it is made when missing and never removed. A
    ///   second file would be a second lock.
    /// - Throws: `alreadyInUse` when it is taken, `fileSystem` when the file cannot be opened.
    init(directory: String) throws(EmbeddedPostgresError) {
        let path = directory + "/lock"
        // Close-on-exec: a server with the descriptor would hold the lock for as long as it runs.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .fileSystem(operation: "open", path: path, code: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw code == EWOULDBLOCK
                ? .alreadyInUse(directory: directory) : .fileSystem(operation: "lock", path: path, code: code)
        }
        self.descriptor = descriptor
    }

    deinit {
        // Unlocked explicitly: a child between fork and exec may still have a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
