package import Foundation
package import NIOCore
import NIOFoundationCompat
import NIOPosix

/// A plain TCP connection, for requests that are sent byte by byte as a test wants them.
package struct RawConnection {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var received = ByteBuffer()

    /// Runs a body with a connection to a port of this machine.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - receiveBufferBytes: How much the system may take before the test reads it; nil for what it likes, up to megabytes.
    ///   - body: Uses the connection.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    package static func open<Result: Sendable>(
        port: Int,
        receiveBufferBytes: Int? = nil,
        _ body: (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            // When thousands come at once the kernel tries again, and each time waits twice as long.
            .connectTimeout(.seconds(60))
        if let receiveBufferBytes {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBufferBytes))
        }
        let channel =
            try await bootstrap
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Otherwise `finish` would send nothing.
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&connection)
        }
    }

    /// Sends text as it is.
    package func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Sends bytes as they are.
    package func send(_ bytes: Data) async throws {
        try await outbound.write(ByteBuffer(data: bytes))
    }

    /// Sends bytes that are shared with others.
    package func send(_ bytes: ByteBuffer) async throws {
        try await outbound.write(bytes)
    }

    /// Sends bytes one by one in the background, until all are sent or the connection is closed.
    ///
    /// - Parameters:
    ///   - bytes: What to send.
    ///   - pause: How long to wait after each byte.
    /// - Returns: The sending, to be cancelled or waited for.
    package func trickle(_ bytes: Data, pause: Duration = .milliseconds(20)) -> Task<Void, any Error> {
        Task { [outbound] in
            for byte in bytes {
                try await outbound.write(ByteBuffer(bytes: [byte]))
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Says that nothing more will be sent, and still reads.
    package func finish() {
        outbound.finish()
    }

    /// Reads one response, interim ones included.
    ///
    /// - Parameter isHead: Whether it answers a HEAD request, so that no body follows.
    /// - Returns: nil when the server closed the connection before it answered.
    /// - Throws: What the connection throws; `HTTPAnswerError` for what is no HTTP.
    package mutating func readResponse(isHead: Bool = false) async throws -> HTTPAnswer? {
        var minBytes = 1
        while true {
            if received.readableBytes >= minBytes {
                let (answer, length) = try HTTPAnswer.parse(Data(buffer: received), isHead: isHead)
                if let answer {
                    received.moveReaderIndex(forwardBy: length)
                    return answer
                }
                minBytes = length
            }
            guard let next = try await inbound.next(isolation: #isolation) else { return nil }
            received.writeImmutableBuffer(next)
        }
    }

    /// Reads what comes next, however little it is.
    ///
    /// - Returns: What came; empty when the server closed the connection.
    /// - Throws: What the connection throws.
    package mutating func readSome() async throws -> Data {
        if received.readableBytes == 0, let next = try await inbound.next(isolation: #isolation) {
            received.writeImmutableBuffer(next)
        }
        defer { received.clear() }
        return Data(buffer: received)
    }

    /// Reads until the server closes the connection.
    ///
    /// - Returns: What came until then and was not read yet.
    /// - Throws: What the connection throws.
    package mutating func readToEnd() async throws -> Data {
        while let next = try await inbound.next(isolation: #isolation) { received.writeImmutableBuffer(next) }
        defer { received.clear() }
        return Data(buffer: received)
    }
}
