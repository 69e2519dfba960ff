import Crypto
import Foundation
package import NIOCore
import NIOPosix
import Synchronization

/// A server that misbehaves as told: one reply of the script for each request, whatever the request is.
package struct ScriptedServer: Sendable {
    /// What to do with a request.
    package enum Reply: Sendable {
        /// Reads the whole request, then sends this.
        case send(String)
        /// Reads the whole request, then sends what this makes of it.
        case answer(@Sendable (Request) -> String)
        /// Sends this after the request's head, with the body still on its way, and goes on reading.
        case sendEarly(String)
        /// Reads the whole request, sends this and closes.
        case sendAndClose(String)
        /// Reads the whole request, sends this, and then nothing more.
        case sendAndHang(String)
        /// Reads the request's head, and then neither reads nor sends.
        case hang
        /// Reads the request's head, and closes.
        case close
        /// Reads the body with a pause after each chunk, then sends this.
        case readSlowly(pause: Duration, then: String)
        /// Reads the whole request, sends the first text, and then the second again and again with a pause before each.
        case drip(String, then: String, pause: Duration)
    }

    /// A request as it came.
    package struct Request: Sendable {
        package var line: String
        /// Names in lower case.
        package var headers: [String: String]
        package var body = ByteBuffer()
        /// Which of the server's connections it came over.
        package var connection = ObjectIdentifier(Log.self)

        /// Path and query.
        package var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    /// Where it listens.
    package let endpoint: String
    private let requests: Log

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let replies: Mutex<[Reply]>
        init(_ replies: [Reply]) { self.replies = Mutex(replies) }
    }

    /// The requests so far, in the order of their heads.
    package var received: [Request] { requests.requests.withLock { $0 } }

    /// Runs a body with a server.
    ///
    /// - Parameters:
    ///   - replies: One for each request; when there are no more, connections are closed.
    ///   - body: Uses the server.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the server from starting.
    package static func with<Result: Sendable>(
        _ replies: [Reply],
        perform body: @escaping @Sendable (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let log = Log(replies)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_rcvbuf), value: 64 * 1024)
            // Wrapped and read only when served: an async channel that nobody serves any more is a crash in NIO.
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0) { channel in channel.eventLoop.makeSucceededFuture(channel) }
        let server = Self(endpoint: "http://127.0.0.1:\(listener.channel.localAddress?.port ?? 0)", requests: log)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try? await listener.executeThenClose { connections in
                    await withDiscardingTaskGroup { group in
                        do {
                            for try await connection in connections {
                                group.addTask { await serve(connection, log: log) }
                            }
                        } catch {}
                    }
                }
                return nil
            }
            group.addTask { try await body(server) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private static func serve(_ channel: any Channel, log: Log) async {
        let connection = try? await channel.eventLoop.submit {
            let connection = try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            channel.setOption(.autoRead, value: true).whenComplete { _ in }
            return connection
        }.get()
        try? await connection?.executeThenClose { inbound, outbound in
            var chunks = inbound.makeAsyncIterator()
            var buffer = ByteBuffer()
            while var request = try await readHead(&chunks, into: &buffer) {
                request.connection = ObjectIdentifier(channel)
                let reply = log.replies.withLock { $0.isEmpty ? .close : $0.removeFirst() }
                let index = log.requests.withLock { requests in
                    requests.append(request)
                    return requests.count - 1
                }
                var pause: Duration?
                switch reply {
                case .close: return
                case .hang: try await Task.sleep(for: .seconds(60))
                case .sendEarly(let text): try await outbound.write(ByteBuffer(string: text))
                case .readSlowly(let duration, _): pause = duration
                case .send, .answer, .sendAndClose, .sendAndHang, .drip: break
                }
                let length = Int(request.headers["content-length"] ?? "0") ?? 0
                while request.body.readableBytes < length {
                    if buffer.readableBytes == 0 {
                        guard let chunk = try await chunks.next(isolation: #isolation) else { return }
                        buffer = chunk
                        if let pause { try await Task.sleep(for: pause) }
                    }
                    let wanted = min(buffer.readableBytes, length - request.body.readableBytes)
                    if var part = buffer.readSlice(length: wanted) { request.body.writeBuffer(&part) }
                }
                log.requests.withLock { $0[index] = request }
                switch reply {
                case .send(let text), .readSlowly(_, let text):
                    try await outbound.write(ByteBuffer(string: text.replacing(md5, with: md5Hex(request.body))))
                case .answer(let make):
                    let text = make(request).replacing(md5, with: md5Hex(request.body))
                    try await outbound.write(ByteBuffer(string: text))
                case .sendAndClose(let text):
                    try await outbound.write(ByteBuffer(string: text))
                    return
                case .sendAndHang(let text):
                    try await outbound.write(ByteBuffer(string: text))
                    try await Task.sleep(for: .seconds(60))
                case .drip(let text, let drop, let pause):
                    try await outbound.write(ByteBuffer(string: text))
                    while true {
                        try await Task.sleep(for: pause)
                        try await outbound.write(ByteBuffer(string: drop))
                    }
                case .sendEarly, .hang, .close: break
                }
            }
        }
    }

    private static func md5Hex(_ bytes: ByteBuffer) -> String {
        Insecure.MD5.hash(data: bytes.readableBytesView).map { String(format: "%02x", $0) }.joined()
    }

    /// Stands in a reply for the MD5 of the request's body.
    package static let md5 = "{md5}"

    private static func readHead(
        _ chunks: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        into buffer: inout ByteBuffer
    ) async throws -> Request? {
        while true {
            let text = String(buffer: buffer)
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                buffer.moveReaderIndex(forwardBy: head.utf8.count + 4)
                let lines = head.split(separator: "\r\n")
                let headers = lines.dropFirst().map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return (parts[0].lowercased(), parts[1].drop { $0 == " " })
                }
                return Request(
                    line: String(lines.first ?? ""),
                    headers: Dictionary(headers.map { ($0.0, String($0.1)) }) { "\($0),\($1)" }
                )
            }
            guard var chunk = try await chunks.next(isolation: #isolation) else { return nil }
            buffer.writeBuffer(&chunk)
        }
    }
}

extension String {
    /// An HTTP answer with its length.
    package static func answer(_ status: String, _ headers: [String: String] = [:], body: String = "") -> String {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)"
    }

    /// What S3 answers to a put that succeeded.
    package static var stored: String { answer("200 OK", ["ETag": "\"\(ScriptedServer.md5)\""]) }

    /// An HTTP answer with S3's error document.
    package static func failure(_ status: String, code: String) -> String {
        answer(status, body: "<Error><Code>\(code)</Code><Message>Sorry.</Message></Error>")
    }
}
