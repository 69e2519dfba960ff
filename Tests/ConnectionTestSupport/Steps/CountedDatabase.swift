import NIOCore
import NIOPosix

/// A proxy before PostgreSQL that has connections break at statements as a counter says.
///
/// A step is what the client waits for the end of: `Query` or `Sync` (PostgreSQL manual, "Message Flow"). Connections
/// are not encrypted, and need no password.
package enum CountedDatabase {
    /// Runs a body with a proxy.
    ///
    /// - Parameters:
    ///   - socket: The path of the server's Unix socket.
    ///   - steps: Counts the statements.
    ///   - body: Gets the port of 127.0.0.1 to connect to instead.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the proxy from listening.
    package static func with<Result: Sendable>(
        socket: String,
        steps: StepCounter,
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        try await HTTPListener.run { client in
            guard !steps.isDown(.database) else { return }
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: socket) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            try await channel.executeThenClose { inbound, outbound in
                try await relay(&client, answers: inbound, requests: outbound, steps: steps)
            }
        } _: { port in
            try await body(port)
        }
    }

    /// Takes one request after the other to the server, and its answer back.
    private static func relay(
        _ client: inout ServedConnection,
        answers: NIOAsyncChannelInboundStream<ByteBuffer>,
        requests: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        steps: StepCounter
    ) async throws {
        var answers = answers.makeAsyncIterator()
        var (asked, answered) = (Messages(), Messages())
        while true {
            let isStart = !asked.isTyped
            guard let request = try await asked.next(until: endsRequest, { try await client.readBody(atMost: .max) })
            else { return }
            var verdict = StepCounter.Verdict.goesOn
            if !isStart, request.last == sync || request.last == query { verdict = steps.next(.database) }
            if verdict == .failsBefore { return steps.finish() }
            try await requests.write(request.bytes)
            // What ends a connection, or asks to cancel over one of its own, has no answer.
            if request.last == terminate || request.isCancellation { return }
            asked.isTyped = true
            answered.isTyped = true
            let answer = try await answered.next(until: { $0 == ready }) {
                try await answers.next(isolation: #isolation)
            }
            if verdict == .failsAfter { return steps.finish() }
            guard let answer else { return }
            try await client.write(answer.bytes)
        }
    }

    private static let query = UInt8(ascii: "Q")
    private static let sync = UInt8(ascii: "S")
    private static let terminate = UInt8(ascii: "X")
    private static let ready = UInt8(ascii: "Z")

    private static func endsRequest(_ type: UInt8) -> Bool { type == query || type == sync || type == terminate }
}

/// The messages of one direction: a type, which the first of a client lacks, and a length (PostgreSQL manual, "Message
/// Formats").
private struct Messages {
    /// Some messages in a row, and the type of the last.
    struct Row {
        var bytes = ByteBuffer()
        var last: UInt8?

        /// `CancelRequest`, by its code.
        var isCancellation: Bool { last == nil && bytes.getInteger(at: 4, as: UInt32.self) == 80_877_102 }
    }

    var isTyped = false
    private var buffer = ByteBuffer()

    /// Waits for messages up to one of a type; for a first message alone.
    ///
    /// - Parameters:
    ///   - isEnd: Whether a type is that of the last.
    ///   - read: Brings more bytes; nil at the end.
    /// - Returns: The messages; nil when the connection ends before.
    /// - Throws: What reading throws.
    mutating func next(
        until isEnd: (UInt8) -> Bool,
        _ read: () async throws -> ByteBuffer?
    ) async throws -> Row? {
        var row = Row()
        while true {
            while var message = take() {
                row.last = isTyped ? message.getInteger(at: message.readerIndex) : nil
                row.bytes.writeBuffer(&message)
                guard let type = row.last, !isEnd(type) else { return row }
            }
            guard var more = try await read() else { return nil }
            buffer.writeBuffer(&more)
        }
    }

    private mutating func take() -> ByteBuffer? {
        let typeBytes = isTyped ? 1 : 0
        guard let length = buffer.getInteger(at: buffer.readerIndex + typeBytes, as: UInt32.self) else { return nil }
        return buffer.readSlice(length: Int(length) + typeBytes)
    }
}
