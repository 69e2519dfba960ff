import NIOCore
import NIOPosix

/// Takes requests to the store behind a proxy, each over a connection of its own.
struct StoreConnection: Sendable {
    let port: Int

    /// Has the store do as asked.
    ///
    /// - Parameters:
    ///   - request: Goes on as it came.
    ///   - count: How many bytes its body has.
    ///   - connection: Brings the body.
    /// - Returns: The answer.
    /// - Throws: What either connection throws.
    func exchange(
        _ request: ServedRequest,
        body count: Int,
        of connection: inout ServedConnection
    ) async throws -> RelayedAnswer {
        try await open { inbound, outbound in
            // A small body goes with its head: a store that refuses the head resets the connection when more comes.
            var beginning = Self.head(of: request)
            var piece = count > 0 ? try await connection.readBody(atMost: count) : ByteBuffer()
            let rest = count - piece.readableBytes
            beginning.writeBuffer(&piece)
            try await outbound.write(beginning)
            try await Self.relay(rest, of: &connection, to: outbound)
            return try await Self.answer(inbound)
        }
    }

    /// Gives the store the beginning of a request, and lets go of it.
    ///
    /// - Parameters:
    ///   - request: Whose body is longer.
    ///   - count: How many bytes of the body the store gets.
    ///   - connection: Brings the body.
    ///   - hold: Returns when it is time to let go.
    /// - Throws: What either connection throws.
    func abandon(
        _ request: ServedRequest,
        after count: Int,
        of connection: inout ServedConnection,
        hold: () async throws -> Void = {}
    ) async throws {
        try await open { inbound, outbound in
            try await outbound.write(Self.head(of: request))
            try await Self.relay(count, of: &connection, to: outbound)
            try await hold()
            outbound.finish()
            // Until it has cleaned up: rclone removes what is under the key then, be it from the next try.
            for try await _ in inbound {}
        }
    }

    /// Sends the request to the store after the client has disconnected.
    ///
    /// - Parameters:
    ///   - request: Goes on as it came.
    ///   - connection: Brings the body, and stays open meanwhile.
    ///   - delay: Returns when the client has disconnected.
    /// - Throws: What either connection throws.
    func exchangeLate(
        _ request: ServedRequest,
        of connection: inout ServedConnection,
        delay: () async throws -> Void
    ) async throws {
        var body = ByteBuffer()
        while body.readableBytes < request.length {
            var piece = try await connection.readBody(atMost: request.length - body.readableBytes)
            body.writeBuffer(&piece)
        }
        try await delay()
        try await open { inbound, outbound in
            try await outbound.write(Self.head(of: request))
            try await outbound.write(body)
            _ = try await Self.answer(inbound)
        }
    }

    private func open<Result>(
        _ body: (
            NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Otherwise `finish` would send nothing.
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in try await body(inbound, outbound) }
    }

    /// Has the store close the connection after its answer, so that the end of the one is that of the other.
    private static func head(of request: ServedRequest) -> ByteBuffer {
        ByteBuffer(string: "\(request.head.dropLast())Connection: close\r\n\r\n")
    }

    private static func relay(
        _ count: Int,
        of connection: inout ServedConnection,
        to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        var rest = count
        while rest > 0 {
            let piece = try await connection.readBody(atMost: rest)
            rest -= piece.readableBytes
            try await outbound.write(piece)
        }
    }

    private static func answer(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> RelayedAnswer {
        var bytes = ByteBuffer()
        for try await var chunk in inbound { bytes.writeBuffer(&chunk) }
        return try RelayedAnswer(bytes)
    }
}

/// An answer of the store, as it is passed on to the client.
struct RelayedAnswer {
    private let head: String
    private let body: ByteBuffer

    /// - Parameter bytes: All that the store sent.
    /// - Throws: `HTTPAnswerError` for what is no answer.
    init(_ bytes: ByteBuffer) throws {
        guard let end = bytes.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound,
            let head = bytes.getString(at: bytes.readerIndex, length: end - bytes.readerIndex),
            let body = bytes.getSlice(at: end, length: bytes.writerIndex - end)
        else { throw HTTPAnswerError(firstLine: "no answer of \(bytes.readableBytes) bytes") }
        // The connection to the client stays open.
        self.head = head.replacing("Connection: close\r\n", with: "")
        self.body = body
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer(string: head)
        bytes.writeImmutableBuffer(body)
        return bytes
    }

    /// What comes before the connection breaks.
    ///
    /// - Parameter inBody: Whether it breaks in the body, if there is one.
    /// - Returns: The head's first half, or the head and the body's first half.
    func beginning(inBody: Bool) -> ByteBuffer {
        guard inBody, body.readableBytes > 0 else { return ByteBuffer(string: String(head.prefix(head.count / 2))) }
        var bytes = ByteBuffer(string: head)
        bytes.writeImmutableBuffer(body.getSlice(at: body.readerIndex, length: body.readableBytes / 2) ?? ByteBuffer())
        return bytes
    }
}
