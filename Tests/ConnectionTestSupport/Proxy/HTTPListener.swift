import NIOCore
import NIOPosix

/// A port of this machine on which a test speaks HTTP/1.1 byte by byte.
enum HTTPListener {
    /// Listens for the time of the body.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - serve: Called for each connection, which is closed when it returns or throws; cancelled after the body.
    ///   - body: Gets the port, chosen by the system.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the port from being opened.
    static func run<Result: Sendable>(
        at host: String = "127.0.0.1",
        serve: @escaping @Sendable (inout ServedConnection) async throws -> Void,
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Otherwise the system would buffer whole photos without a reader, and nothing could stall.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 64 * 1024)
            // Wrapped and read only when served: an async channel that nobody serves any more is a crash in NIO.
            .childChannelOption(.autoRead, value: false)
            .bind(host: host, port: 0) { channel in channel.eventLoop.makeSucceededFuture(channel) }
        let port = listener.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { channels in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await channel in channels { group.addTask { await accept(channel, serve: serve) } }
                    }
                }
            }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body(port))
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            while let ended = await group.nextResult() { _ = ended }
            return try result.get()
        }
    }

    private static func accept(
        _ channel: any Channel,
        serve: @Sendable (inout ServedConnection) async throws -> Void
    ) async {
        let connection = try? await channel.eventLoop.submit {
            let connection = try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            channel.setOption(.autoRead, value: true).whenComplete { _ in }
            return connection
        }.get()
        try? await connection?.executeThenClose { inbound, outbound in
            var served = ServedConnection(channel: channel, chunks: inbound.makeAsyncIterator(), outbound: outbound)
            try await serve(&served)
        }
    }
}

/// A connection that was taken, read request by request.
struct ServedConnection {
    private let channel: any Channel
    private var chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var buffer = ByteBuffer()

    /// Identifies it.
    var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Waiters for the client's close.
    var end: ConnectionEnd { ConnectionEnd(channel: channel) }

    fileprivate init(
        channel: any Channel,
        chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.channel = channel
        self.chunks = chunks
        self.outbound = outbound
    }

    /// Waits for the head of the next request.
    ///
    /// - Returns: nil when the client closed the connection.
    /// - Throws: What the connection throws.
    mutating func readHead() async throws -> ServedRequest? {
        while true {
            if let end = buffer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                let count = end - buffer.readerIndex
                return buffer.readString(length: count).map(ServedRequest.init)
            }
            guard var chunk = try await chunks.next(isolation: #isolation) else { return nil }
            buffer.writeBuffer(&chunk)
        }
    }

    /// Waits for some of a request's body.
    ///
    /// - Parameter count: The most bytes to give.
    /// - Returns: At least one byte.
    /// - Throws: `CancellationError` when the client closed the connection, or what the connection throws.
    mutating func readBody(atMost count: Int) async throws -> ByteBuffer {
        if buffer.readableBytes == 0 {
            guard let chunk = try await chunks.next(isolation: #isolation) else { throw CancellationError() }
            buffer = chunk
        }
        return buffer.readSlice(length: min(count, buffer.readableBytes)) ?? ByteBuffer()
    }

    /// Reads and drops so many bytes.
    mutating func skip(_ count: Int) async throws {
        var rest = count
        while rest > 0 { rest -= try await readBody(atMost: rest).readableBytes }
    }

    func write(_ bytes: ByteBuffer) async throws {
        try await outbound.write(bytes)
    }

    /// Has the connection closed with RST instead of FIN.
    func reset() async throws {
        guard let options = channel as? any SocketOptionProvider else { return }
        try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    }
}

/// A request's line and header fields.
struct ServedRequest: Sendable {
    /// All of it, with the empty line.
    let head: String
    let method: String
    let target: String
    /// Names in lower case; the values of one that comes twice are joined by a comma.
    let headers: [String: String]

    /// Method, target and version.
    var line: String { String(head.prefix { $0 != "\r\n" }) }

    /// Of the body, in bytes.
    var length: Int { headers["content-length"].flatMap { Int($0) } ?? 0 }

    fileprivate init(head: String) {
        self.head = head
        let lines = head.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        method = words.first ?? ""
        target = words.dropFirst().first ?? ""
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), String((parts.dropFirst().first ?? "").drop { $0 == " " }))
        }
        headers = Dictionary(fields) { "\($0),\($1)" }
    }
}
