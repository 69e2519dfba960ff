import CLinux
package import FoundationEssentials
import Glibc

/// An open file, closed when it is dropped.
///
/// All system calls on files are made and checked here. They block, so call them on a thread that may.
package final class PosixFile: Sendable {
    package let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file for reading; nil when there is none.
    package static func open(path: String) throws(PosixFileError) -> PosixFile? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        return PosixFile(descriptor: try checked(descriptor, "open"))
    }

    /// The result of opening a file without waiting for a disk.
    package enum QuickOpening {
        case found(PosixFile)
        case missing
        /// The system does not know without asking the disk, or is too old to say.
        case mayBlock
    }

    /// Opens a file for reading if the system need not ask the disk.
    ///
    /// That takes a microsecond or two: less than a switch to a thread that may block.
    package static func openQuickly(path: String) -> QuickOpening {
        let descriptor = linux_open_cached(path)
        if descriptor >= 0 { return .found(PosixFile(descriptor: descriptor)) }
        return errno == ENOENT ? .missing : .mayBlock
    }

    /// Whether the last byte of a range is in memory, and so most likely all of it.
    ///
    /// Files are read from the disk from front to back. It is false where the file system does not know. It may be called
    /// on any thread.
    package func isInMemory(_ range: Range<Int>) -> Bool {
        range.isEmpty || linux_read_cached(descriptor, UInt(range.upperBound - 1)) == 1
    }

    /// Makes a file that must not exist yet, readable by this user only.
    package static func create(path: String) throws(PosixFileError) -> PosixFile {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        return PosixFile(descriptor: try checked(descriptor, "create"))
    }

    /// Makes a file without a name.
    ///
    /// It disappears when it is closed, and after a crash.
    package static func makeTemporary() throws(PosixFileError) -> PosixFile {
        let path = FileManager.default.temporaryDirectory.appending(path: "spool-XXXXXX").path
        var template = Array(path.utf8CString)
        let file = PosixFile(descriptor: try checked(mkstemp(&template), "mkstemp"))
        try checked(Glibc.unlink(template), "unlink")
        try checked(fcntl(file.descriptor, F_SETFD, FD_CLOEXEC), "fcntl")
        return file
    }

    /// Writes all bytes at the current position.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(PosixFileError) {
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            offset += Int(try Self.checked(written, "write"))
        }
    }

    /// Reads bytes at an offset; fewer than asked for only at the file's end.
    ///
    /// - Returns: How many were read.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(PosixFileError) -> Int {
        var count = 0
        while count < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
            let got = pread(descriptor, rest.baseAddress, rest.count, offset + count)
            if got < 0, errno == EINTR { continue }
            if try Self.checked(got, "read") == 0 { break }
            count += got
        }
        return count
    }

    /// Makes sure that what was written survives a loss of power.
    package func synchronize() throws(PosixFileError) {
        try Self.checked(fsync(descriptor), "fsync")
    }

    /// Size in bytes and time of the last change.
    package func status() throws(PosixFileError) -> (bytes: Int, modified: Date) {
        var status = stat()
        try Self.checked(fstat(descriptor, &status), "fstat")
        let seconds = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1_000_000_000
        return (Int(status.st_size), Date(timeIntervalSince1970: seconds))
    }

    /// Renames a file, and replaces any that has the new name.
    package static func rename(_ path: String, to newPath: String) throws(PosixFileError) {
        try checked(Glibc.rename(path, newPath), "rename")
    }

    /// Gives a file a second name, which must not exist yet.
    ///
    /// - Returns: Whether it has the name; false when there is a file of that name.
    package static func link(_ path: String, as newPath: String) throws(PosixFileError) -> Bool {
        let result = Glibc.link(path, newPath)
        if result < 0, errno == EEXIST { return false }
        try checked(result, "link")
        return true
    }

    /// Removes a file.
    ///
    /// A missing file is no error.
    package static func remove(_ path: String) throws(PosixFileError) {
        let result = Glibc.unlink(path)
        if result < 0, errno == ENOENT { return }
        try checked(result, "unlink")
    }

    @discardableResult
    private static func checked<Result: SignedInteger>(
        _ result: Result,
        _ call: StaticString
    ) throws(PosixFileError) -> Result {
        guard result >= 0 else { throw PosixFileError(call: call, code: errno) }
        return result
    }
}

/// A system call on a file that failed; it does not name the file.
package struct PosixFileError: Error, CustomStringConvertible {
    let call: StaticString
    let code: Int32

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
