package import LinuxFiles
import NIOCore

/// Asks the connection to send a range of a file as the next bytes of the answer's body.
struct SendFileEvent: Sendable {
    let file: PosixFile
    let range: Range<Int>

    /// The region that the socket sends.
    ///
    /// The handle only borrows the descriptor. The file closes it, so the file stays referenced until the range is
    /// sent.
    func region(until sent: EventLoopFuture<Void>) -> FileRegion {
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
        sent.whenComplete { _ in
            withExtendedLifetime(file) { _ = try? handle.takeDescriptorOwnership() }
        }
        return FileRegion(fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
    }
}

/// Its promise succeeds when the socket has taken all that was written of an answer.
struct SentEvent: Sendable {}

/// How files are sent.
private enum FileSending {
    /// How many bytes are handed to the system at a time.
    ///
    /// The system may drop these bytes from its memory at the last moment. Then a socket's thread waits for the disk,
    /// but for this many bytes at most.
    static let pieceBytes = 512 * 1024
}

extension Channel {
    /// Waits until the socket has taken all that was written of the present answer.
    ///
    /// An answer that has not begun does not wait.
    ///
    /// - Throws: What the connection throws when it ends early.
    package func waitUntilSent() async throws {
        try await triggerUserOutboundEvent(SentEvent()).get()
    }

    /// Sends a range of a file as the next bytes of a body.
    ///
    /// They go from the system's memory straight to the socket.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - range: Which bytes; all of them must be there.
    ///   - onSent: Called with the number of bytes of each piece, when it is handed over.
    /// - Throws: What the connection throws when it ends early, `PosixFileError`, `FileEndedEarly`, `CancellationError`.
    package func send(
        _ file: PosixFile,
        _ range: Range<Int>,
        onSent: (Int) -> Void = { _ in }
    ) async throws {
        var rest = range
        while !rest.isEmpty {
            let piece = rest.prefix(FileSending.pieceBytes)
            // The few threads of the sockets must not wait for a disk.
            if !file.isInMemory(piece) { try await file.bringIntoMemory(piece) }
            try Task.checkCancellation()
            let event = SendFileEvent(file: file, range: piece)
            rest = piece.upperBound..<rest.upperBound
            // The end of the body waits for the last event.
            if rest.isEmpty { return triggerUserOutboundEvent(event, promise: nil) }
            try await triggerUserOutboundEvent(event).get()
            onSent(piece.count)
        }
    }
}
