package import LinuxFiles
import NIOCore

/// Asks the connection to send a range of a file as the next bytes of the body that is being answered with.
struct SendFileEvent: Sendable {
    let file: PosixFile
    let range: Range<Int>
}

/// How files are sent.
private enum FileSending {
    /// How much is handed to the system at a time. The system may throw it out of its memory at the last moment. Then a
    /// thread of the sockets waits for the disk to read so much at most.
    static let pieceBytes = 512 * 1024
}

extension Channel {
    /// Sends a range of a file as the next bytes of a body. They go from the system's memory to the socket without
    /// passing through this process's.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - range: Which bytes; all of them must be there.
    /// - Throws: What the connection throws when it ends early, `PosixFileError`, `FileEndedEarly`, `CancellationError`.
    package func send(_ file: PosixFile, _ range: Range<Int>) async throws {
        var rest = range
        while !rest.isEmpty {
            let piece = rest.prefix(FileSending.pieceBytes)
            // Sockets have few threads, which must not wait for a disk.
            if !file.isInMemory(piece) { try await file.bringIntoMemory(piece) }
            try Task.checkCancellation()
            let event = SendFileEvent(file: file, range: piece)
            rest = piece.upperBound..<rest.upperBound
            // The end of the body waits for the last one, as for any other bytes.
            if rest.isEmpty { return triggerUserOutboundEvent(event, promise: nil) }
            try await triggerUserOutboundEvent(event).get()
        }
    }
}
