import Cryptography
import Encodings
import LinuxFiles
import NIOPosix

/// The lines of a file, one after another: only a part of it is in memory.
struct LineFile {
    private let file: PosixFile
    private let path: String
    private let maxLineBytes: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins in the buffer.
    private var position = 0
    /// Where the search for its end goes on.
    private var searched = 0
    private var offset = 0
    private var isAtEnd = false
    private var digest = SHA256()
    /// How many lines were read.
    private(set) var lineCount = 0

    private static let chunkBytes = 1 << 20

    /// A line has more bytes than it may have.
    struct TooLong: Error {
        /// Its number, from 1.
        let line: Int
    }

    /// - Parameters:
    ///   - path: The file.
    ///   - maxLineBytes: The most bytes of a line.
    /// - Throws: ``RecordFileError`` when it can't be opened.
    init(_ path: String, maxLineBytes: Int) async throws {
        (self.path, self.maxLineBytes) = (path, maxLineBytes)
        file = try await NIOThreadPool.singleton.runIfActive {
            do {
                guard let file = try PosixFile.open(path: path) else { throw RecordFileError.missing(path) }
                return file
            } catch let error as PosixFileError {
                throw RecordFileError.unreadable(path, "\(error)")
            }
        }
    }

    /// The next line that is not empty, without its end; nil behind the last one.
    ///
    /// - Throws: ``TooLong``, ``RecordFileError``.
    mutating func next() async throws -> ArraySlice<UInt8>? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[position..<end]
                guard line.count <= maxLineBytes else { throw TooLong(line: lineCount + 1) }
                (position, searched) = (end + 1, end + 1)
                lineCount += 1
                if let line = Self.trimmed(line) { return line }
                continue
            }
            guard buffer.count - position <= maxLineBytes else { throw TooLong(line: lineCount + 1) }
            if isAtEnd {
                let line = buffer[position...]
                (position, searched) = (buffer.count, buffer.count)
                if line.isEmpty { return nil }
                lineCount += 1
                if let line = Self.trimmed(line) { return line }
                continue
            }
            try await fill()
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return line.allSatisfy { [UInt8(ascii: " "), UInt8(ascii: "\t")].contains($0) } ? nil : line
    }

    private mutating func fill() async throws {
        let (file, path, offset) = (file, path, offset)
        let bytes = try await NIOThreadPool.singleton.runIfActive { () -> [UInt8] in
            do {
                return try [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { bytes, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(bytes), at: offset)
                }
            } catch let error as PosixFileError {
                throw RecordFileError.unreadable(path, "\(error)")
            }
        }
        self.offset += bytes.count
        isAtEnd = bytes.isEmpty
        digest.update(bytes)
        buffer.removeFirst(position)
        (position, searched) = (0, buffer.count)
        buffer += bytes
    }

    /// Reads all that is left, and counts its lines, however long they are.
    mutating func skipToEnd() async throws {
        var last: UInt8?
        while !isAtEnd {
            try await fill()
            lineCount += buffer.count { $0 == UInt8(ascii: "\n") }
            last = buffer.last ?? last
            (position, searched) = (buffer.count, buffer.count)
        }
        if last.map({ $0 != UInt8(ascii: "\n") }) ?? false { lineCount += 1 }
    }

    /// The SHA-256 digest of all that was read, in hexadecimal.
    var digestText: String {
        let digest = digest
        return digest.finalize().withUnsafeBytes { $0.hexadecimal }
    }
}

/// A file of records can't be used.
package enum RecordFileError: Error, Equatable, CustomStringConvertible {
    case missing(String)
    case unreadable(String, String)
    /// It has changed since it was checked.
    case changed(String)

    package var description: String {
        switch self {
        case .missing(let path): "There is no file \(path)."
        case .unreadable(let path, let reason): "\(path) can't be read: \(reason)."
        case .changed(let path): "\(path) has changed since it was checked."
        }
    }
}
