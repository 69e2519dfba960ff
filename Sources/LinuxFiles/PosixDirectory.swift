import CLinux
package import FoundationEssentials
import Glibc

/// The files of a folder in batches, so that a folder of millions needs little memory.
package actor PosixDirectory {
    /// A regular file, as the folder and the file's own status say.
    package struct File: Sendable {
        package let name: String
        package let bytes: Int
        package let modified: Date
    }

    private struct Handle: ~Copyable {
        let stream: OpaquePointer

        deinit { closedir(stream) }
    }

    private let handle: Handle

    /// - Parameter path: The folder's path.
    /// - Throws: `PosixFileError`.
    package init(path: String) throws(PosixFileError) {
        guard let stream = opendir(path) else { throw PosixFileError(call: "opendir", code: errno) }
        handle = Handle(stream: stream)
    }

    /// Reads on.
    ///
    /// - Parameter count: The most files.
    /// - Returns: Files whose names are UTF-8, without those that are hidden; none at the folder's end.
    /// - Throws: `PosixFileError`.
    package func next(_ count: Int) throws(PosixFileError) -> [File] {
        var files: [File] = []
        while files.count < count {
            errno = 0
            guard let entry = readdir(handle.stream) else {
                guard errno == 0 else { throw PosixFileError(call: "readdir", code: errno) }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(validatingCString: $0) }
            }
            if let name, !name.hasPrefix("."), let file = try file(name) { files.append(file) }
        }
        return files
    }

    private func file(_ name: String) throws(PosixFileError) -> File? {
        var status = stat()
        guard fstatat(dirfd(handle.stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            // Deleted since.
            if errno == ENOENT { return nil }
            throw PosixFileError(call: "fstatat", code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        let seconds = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1_000_000_000
        return File(name: name, bytes: Int(status.st_size), modified: Date(timeIntervalSince1970: seconds))
    }
}
