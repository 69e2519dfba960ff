import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import S3

/// The connection that is closed when more of a body is wanted and none comes; its time is the test's.
struct SilenceHandlerTests {
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(SilenceHandler(silence: .seconds(4)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    private func receive(_ part: HTTPClientResponsePart) throws { try channel.writeInbound(part) }

    private func beginAnswer() throws { try receive(.head(HTTPResponseHead(version: .http1_1, status: .ok))) }

    private func receiveBody() throws { try receive(.body(ByteBuffer(string: "a"))) }

    @Test("Bytes that are wanted and do not come close the connection with the reason, half a second late at most")
    func silence() throws {
        try beginAnswer()
        channel.read()
        pass(.seconds(4))
        #expect(channel.isActive)
        try channel.throwIfErrorCaught()
        pass(.milliseconds(500))
        #expect(!channel.isActive)
        #expect(throws: S3NoAnswer.silent) { try channel.throwIfErrorCaught() }
    }

    @Test("Before an answer begins, and after its end, nothing is closed")
    func betweenAnswers() throws {
        channel.read()
        pass(.hours(1))
        #expect(channel.isActive)
        try beginAnswer()
        try receive(.end(nil))
        channel.read()
        pass(.hours(1))
        #expect(channel.isActive)
        try channel.throwIfErrorCaught()
    }

    @Test("While no bytes are wanted nothing is closed: a reader may be as slow as it likes")
    func slowReader() throws {
        try beginAnswer()
        pass(.hours(1))
        #expect(channel.isActive)
        channel.read()
        try receiveBody()
        pass(.hours(1))
        #expect(channel.isActive)
        try channel.throwIfErrorCaught()
    }

    @Test("Each piece that comes is waited for anew")
    func pieces() throws {
        try beginAnswer()
        for _ in 0..<5 {
            channel.read()
            pass(.seconds(3))
            try receiveBody()
        }
        #expect(channel.isActive)
        channel.read()
        pass(.milliseconds(4_500))
        #expect(!channel.isActive)
    }

    @Test("A second wish for bytes does not begin the wait anew")
    func secondRead() throws {
        try beginAnswer()
        channel.read()
        pass(.seconds(3))
        channel.read()
        pass(.milliseconds(1_500))
        #expect(!channel.isActive)
    }
}
