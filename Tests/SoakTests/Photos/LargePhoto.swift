import ConnectionTestSupport
import Foundation
import NIOCore
import ServerProcesses
import ServiceTestSupport
import TestSupport

/// A photo of 100 MB that is nowhere as a whole: one block, sent and expected again and again.
enum LargePhoto {
    static let byteCount = 100_000_000
    /// For `UPLOAD_BYTES_MAX`.
    static let maxUploadBytes = "110000000"

    private static let block = ByteBuffer(bytes: (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 >> 12 ^ $0) })

    /// Uploads the photo over a connection of its own.
    ///
    /// - Returns: The answer.
    /// - Throws: What the connection throws, or `NotInTime` when it is closed without an answer.
    static func upload(to service: TestService, token: String) async throws -> HTTPAnswer {
        let (start, end) = TestImage.pngFrame(bytes: byteCount)
        let frame = TestMultipart.body(image: start + end, title: "Large")
        let split = try frame.firstRange(of: start).orThrow().upperBound
        return try await RawConnection.open(port: service.port) { connection in
            try await connection.send(
                """
                POST /api/upload_photo HTTP/1.1\r
                Host: 127.0.0.1:\(service.port)\r
                Authorization: Token token=\(token)\r
                Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
                Content-Length: \(frame.count + byteCount - start.count - end.count)\r
                Connection: close\r
                \r

                """
            )
            try await connection.send(frame[..<split])
            var rest = byteCount - start.count - end.count
            while rest > 0 {
                let piece = try block.getSlice(at: 0, length: min(rest, block.readableBytes)).orThrow()
                try await connection.send(piece)
                rest -= piece.readableBytes
            }
            try await connection.send(frame[split...])
            return try await connection.readResponse().orThrow()
        }
    }

    /// Downloads a photo over a connection of its own, dropping what comes.
    ///
    /// - Parameters:
    ///   - target: The path and query.
    ///   - service: Serves it.
    ///   - pause: How long to wait after each read.
    ///   - onBegin: Called when the first bytes have come.
    /// - Returns: How many bytes came, the header included, until the server closed the connection or the task was
    ///   cancelled.
    /// - Throws: What the connection throws.
    static func download(
        _ target: String,
        from service: TestService,
        pause: Duration = .zero,
        onBegin: @Sendable () -> Void = {}
    ) async throws -> Int {
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            var count = 0
            while !Task.isCancelled {
                do {
                    let bytes = try await connection.readSome().count
                    guard bytes > 0 else { break }
                    if count == 0 { onBegin() }
                    count += bytes
                    if pause > .zero { try await Task.sleep(for: pause) }
                } catch is CancellationError {
                    break
                }
            }
            return count
        }
    }
}

extension Optional {
    fileprivate func orThrow() throws -> Wrapped {
        guard let self else { throw NotInTime(what: "\(Wrapped.self)") }
        return self
    }
}
