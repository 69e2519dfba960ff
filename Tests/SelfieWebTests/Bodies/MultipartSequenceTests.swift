import Hummingbird
import Multipart
import NIOCore
import ServerProcesses
import Testing

@testable import SelfieWeb

@Suite("Multipart bodies as they arrive", .timeLimit(.minutes(2)))
struct MultipartSequenceTests {
    @Test("The memory of a piece is free while the next one is awaited")
    func memory() async throws {
        let (body, source) = RequestBody.makeStream()
        let head = "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"photo\"\r\n\r\n"
        var piece = ByteBuffer(string: head + String(repeating: "x", count: 1_000))
        await source.yield(piece)
        let reading = Task {
            let parts = MultipartSequence(
                body: body,
                maxBytes: 10_000,
                tooLarge: .bodyTooLarge(maxBytes: 10_000),
                boundary: try MultipartBoundary(contentType: "multipart/form-data; boundary=b"),
                limits: MultipartLimits(maxFileBytes: 10_000, maxPartCount: 2, maxFieldBytes: 1_000)
            )
            for try await _ in parts {}
        }
        try await poll("nobody else has the piece") { piece.modifyIfUniquelyOwned { _ in true } ?? false }
        source.finish()
        await #expect(throws: MultipartError.unexpectedEnd) { try await reading.value }
    }
}
