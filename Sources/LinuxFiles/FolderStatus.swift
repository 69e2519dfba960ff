import CLinux
import Glibc

/// The status of a folder and its file system.
package struct FolderStatus: Sendable {
    package enum FileSystem: Sendable {
        /// Its files are lost at the next start of the machine.
        case memory
        /// Its files are lost with the container.
        case container
        case other
    }

    package let isFolder: Bool
    /// Whether users besides its owner and group may list or enter it.
    package let isOpenToOthers: Bool
    /// How many bytes a user other than root may still write there.
    package let freeBytes: Int
    package let fileSystem: FileSystem

    /// Asks the system; nil when there is no such folder.
    ///
    /// - Parameter path: The folder's path.
    /// - Throws: `PosixFileError`.
    package init?(path: String) throws(PosixFileError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw PosixFileError(call: "stat", code: errno)
        }
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isOpenToOthers = status.st_mode & (S_IROTH | S_IXOTH) != 0
        var system = statfs()
        guard statfs(path, &system) == 0 else { throw PosixFileError(call: "statfs", code: errno) }
        freeBytes = Int(clamping: UInt64(system.f_bavail).multipliedFullWidth(by: UInt64(system.f_bsize)).low)
        fileSystem =
            switch UInt32(truncatingIfNeeded: system.f_type) {
            case Self.tmpfs, Self.ramfs: .memory
            case Self.overlayfs: .container
            default: .other
            }
    }

    /// From statfs(2) and linux/magic.h.
    private static let tmpfs: UInt32 = 0x0102_1994
    private static let ramfs: UInt32 = 0x8584_58F6
    private static let overlayfs: UInt32 = 0x794C_7630
}
