package import NIOCore
import NIOPosix
package import SystemPackage

/// The body of a request.
package struct RequestBody: Sendable {
    /// How many bytes there are.
    package let length: Int
    /// The bytes, if they are in memory; they are passed at once.
    var bytes: ByteBuffer?
    /// Passes all pieces in order; each call returns when the transfer has room for another.
    let send: @Sendable (_ piece: (ByteBuffer) async throws -> Void) async throws -> Void

    /// How many bytes of a file are read at a time.
    private static let pieceBytes = 256 * 1_024

    /// Bytes in memory.
    package static func bytes(_ bytes: ByteBuffer) -> RequestBody {
        var body = RequestBody(length: bytes.readableBytes) { _ in }
        body.bytes = bytes
        return body
    }

    /// A sequence whose length is known.
    ///
    /// The next piece is read when the one before is on its way.
    package static func stream<Pieces: AsyncSequence & Sendable>(
        length: Int,
        _ pieces: Pieces
    ) -> RequestBody where Pieces.Element == ByteBuffer {
        RequestBody(length: length) { piece in
            for try await bytes in pieces { try await piece(bytes) }
        }
    }

    /// A range of a file.
    ///
    /// - Parameters:
    ///   - file: Must stay open until the transfer is over.
    ///   - range: Positions in the file.
    /// - Returns: The body.
    package static func file(_ file: SystemPackage.FileDescriptor, _ range: Range<Int64>) -> RequestBody {
        RequestBody(length: range.count) { piece in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let (start, count) = (offset, min(pieceBytes, Int(range.upperBound - offset)))
                let bytes = try await NIOThreadPool.singleton.runIfActive {
                    var bytes = ByteBuffer()
                    try bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { buffer in
                        try file.read(
                            fromAbsoluteOffset: start,
                            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
                        )
                    }
                    return bytes
                }
                guard bytes.readableBytes > 0 else { throw BodyLengthMismatch() }
                offset += Int64(bytes.readableBytes)
                try await piece(bytes)
            }
        }
    }
}

/// A body has fewer or more bytes than it said.
package struct BodyLengthMismatch: Error {}
