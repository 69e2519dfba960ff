import NIOCore
import NIOEmbedded
import Testing

@testable import S3

/// The connection that is closed when bytes are wanted and none come; its time is the test's.
struct SilenceHandlerTests {
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(SilenceHandler(silence: .seconds(4)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    @Test("Bytes that are wanted and do not come close the connection with the reason, half a second late at most")
    func silence() throws {
        channel.read()
        pass(.seconds(4))
        #expect(channel.isActive)
        try channel.throwIfErrorCaught()
        pass(.milliseconds(500))
        #expect(!channel.isActive)
        #expect(throws: S3NoAnswer.silent) { try channel.throwIfErrorCaught() }
    }

    @Test("While no bytes are wanted nothing is closed: a reader may be as slow as it likes")
    func slowReader() throws {
        pass(.hours(1))
        #expect(channel.isActive)
        channel.read()
        try channel.writeInbound(ByteBuffer(string: "a"))
        pass(.hours(1))
        #expect(channel.isActive)
        try channel.throwIfErrorCaught()
    }

    @Test("Each piece that comes is waited for anew")
    func pieces() throws {
        for _ in 0..<5 {
            channel.read()
            pass(.seconds(3))
            try channel.writeInbound(ByteBuffer(string: "a"))
        }
        #expect(channel.isActive)
        channel.read()
        pass(.milliseconds(4_500))
        #expect(!channel.isActive)
    }

    @Test("What is written, or taken, is a sign of life", arguments: [true, false])
    func writing(isWritten: Bool) throws {
        channel.read()
        for _ in 0..<5 {
            pass(.seconds(3))
            if isWritten {
                try channel.writeOutbound(ByteBuffer(string: "a"))
            } else {
                channel.pipeline.fireChannelWritabilityChanged()
            }
        }
        #expect(channel.isActive)
        pass(.milliseconds(4_500))
        #expect(!channel.isActive)
    }

    @Test("A second wish for bytes does not begin the wait anew")
    func secondRead() {
        channel.read()
        pass(.seconds(3))
        channel.read()
        pass(.milliseconds(1_500))
        #expect(!channel.isActive)
    }
}
