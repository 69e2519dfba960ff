import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An append-only file of frames, each with a checksum.
///
/// A frame is `SLF1`, the payload's length as four bytes (the lowest first), the first eight bytes of the SHA-256 of length
/// and payload, and the payload. A frame that was cut off by a crash is left out when the file is opened, and so is one
/// that was damaged; those behind it are found by their beginning. One owner at a time may have it open.
final class FrameLog {
    static let maxPayloadBytes = 64 << 20
    private static let mark = Data("SLF1".utf8)
    private static let headBytes = 16

    private let file: URL
    private let disk: Disk
    private var descriptor: Int32
    private(set) var byteCount: Int
    /// How many bytes between whole frames were damaged.
    ///
    /// What a crash cut off at the end does not count.
    let damagedBytes: Int

    /// Opens a log, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - disk: What writes it.
    ///   - endsAtDamage: Whether frames behind a damaged one are removed, too, because they mean nothing without it.
    ///   - onFrame: Gets each whole frame's payload.
    /// - Throws: An error of `Disk`'s.
    init(file: URL, disk: Disk, endsAtDamage: Bool = false, onFrame: (Data) throws -> Void) throws {
        (self.file, self.disk) = (file, disk)
        let contents = try Disk.read(file) ?? Data()
        let (end, damaged) = try Self.read(contents, endsAtDamage: endsAtDamage, onFrame)
        descriptor = try Disk.open(file, O_RDWR | O_CREAT)
        (byteCount, damagedBytes) = (end, damaged)
        // If that fails, `deinit` closes the descriptor.
        try cut(to: end)
    }

    deinit { close(descriptor) }

    /// Reads all whole frames.
    ///
    /// - Returns: Where the last one ends, and how many bytes before it are in no frame.
    private static func read(_ contents: Data, endsAtDamage: Bool, _ onFrame: (Data) throws -> Void) throws
        -> (end: Int, damaged: Int)
    {
        var (position, end, damaged) = (0, 0, 0)
        while position < contents.count {
            if let payload = payload(at: position, of: contents) {
                try onFrame(payload)
                damaged += position - end
                position += headBytes + payload.count
                end = position
            } else if !endsAtDamage, let next = contents.range(of: mark, in: position + 1..<contents.count)?.lowerBound
            {
                position = next
            } else {
                break
            }
        }
        return (end, damaged)
    }

    private static func payload(at position: Int, of contents: Data) -> Data? {
        guard contents.count - position >= headBytes, contents[position..<position + 4] == mark else { return nil }
        let length = contents[position + 4..<position + 8]
        let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
        let start = position + headBytes
        guard count <= maxPayloadBytes, count <= contents.count - start else { return nil }
        let payload = contents.subdata(in: start..<start + count)
        return checksum(length + payload) == contents[position + 8..<start] ? payload : nil
    }

    private static func checksum(_ data: Data) -> Data { SHA256.digest(of: data).prefix(8) }

    private static func frame(_ payload: Data) throws -> Data {
        guard payload.count <= maxPayloadBytes else { throw SelfieError.storage("A frame of a log is too large.") }
        let length = Data((0..<4).map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) })
        return mark + length + checksum(length + payload) + payload
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - payload: At most 64 MiB.
    ///   - isDurable: Whether to wait until it is on the disk.
    /// - Throws: An error of `Disk`'s; the log is as before then.
    func append(_ payload: Data, isDurable: Bool = true) throws {
        let frame = try Self.frame(payload)
        do {
            try disk.beforeStep("append")
            try Disk.write(frame, to: descriptor)
            if isDurable {
                try disk.beforeStep("synchronize log")
                try Disk.synchronize(descriptor)
            }
        } catch {
            // If that fails as well, the next start leaves out what is incomplete.
            try? cut(to: byteCount)
            throw error
        }
        byteCount += frame.count
    }

    /// Replaces all frames in one step.
    ///
    /// - Throws: An error of `Disk`'s. The log has the former frames then, or the new ones.
    func rewrite(_ payloads: [Data]) throws {
        var (total, next): (Int, Int32) = (0, -1)
        // Whatever fails behind the move: what is added from then on must go into the file that has the name.
        defer {
            if next >= 0, Self.isFile(next, file) {
                close(descriptor)
                (descriptor, byteCount) = (next, total)
            } else if next >= 0 {
                close(next)
            }
        }
        try disk.write(file) { descriptor in
            for payload in payloads {
                let frame = try Self.frame(payload)
                try Disk.write(frame, to: descriptor)
                total += frame.count
            }
            next = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard next >= 0 else { throw Disk.error("open") }
        }
    }

    /// Whether a descriptor is of the file with a name.
    private static func isFile(_ descriptor: Int32, _ file: URL) -> Bool {
        var (open, named) = (stat(), stat())
        guard fstat(descriptor, &open) == 0, stat(file.path, &named) == 0 else { return false }
        return open.st_ino == named.st_ino && open.st_dev == named.st_dev
    }

    /// Whether two names are of the same file.
    static func isSame(_ file: URL, _ other: URL) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(file.path, &first) == 0, stat(other.path, &second) == 0 else { return false }
        return first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    private func cut(to end: Int) throws {
        guard ftruncate(descriptor, off_t(end)) == 0, lseek(descriptor, off_t(end), SEEK_SET) >= 0 else {
            throw Disk.error("truncate")
        }
    }
}
