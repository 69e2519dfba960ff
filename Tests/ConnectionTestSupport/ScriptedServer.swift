import Cryptography
import Foundation
package import NIOCore
import Synchronization

/// A scripted server: one reply of the script for each request, whatever the request is.
package struct ScriptedServer: Sendable {
    /// What to do with a request.
    package indirect enum Reply: Sendable {
        /// Does what this decides when the request's head has come.
        case decide(@Sendable (Request) -> Reply)
        /// Reads the whole request, then sends this.
        case send(String)
        /// Reads the whole request, then sends what this makes of it.
        case answer(@Sendable (Request) -> String)
        /// Sends this after the request's head, with the body still on its way, and keeps reading.
        case sendEarly(String)
        /// Sends the first text after the request's head, and the second after a pause, with the body still on its way.
        case sendEarlyInTwo(String, pause: Duration, String)
        /// Reads the whole request, sends this and closes.
        case sendAndClose(String)
        /// Reads the whole request, sends this, and then nothing more.
        case sendAndHang(String)
        /// Reads the request's head, and then neither reads nor sends.
        case hang
        /// Reads the request's head, and closes.
        case close
        /// Reads the body with a pause after each 64 KiB, then sends this.
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
        package var connection: ObjectIdentifier

        /// Path and query.
        package var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    /// Where it listens.
    package let endpoint: String
    private let log: Log

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let replies: Mutex<[Reply]>
        let connectionsLeft = Mutex(0)

        init(_ replies: [Reply]) { self.replies = Mutex(replies) }

        /// Notes a request, and finds the reply to it.
        func begin(_ request: Request) -> (reply: Reply, index: Int) {
            let index = requests.withLock { requests in
                requests.append(request)
                return requests.count - 1
            }
            return (replies.withLock { $0.isEmpty ? .close : $0.removeFirst() }, index)
        }
    }

    /// The requests so far, in the order of their heads.
    package var received: [Request] { log.requests.withLock { $0 } }

    /// How many connections their clients closed between two requests.
    package var connectionsLeft: Int { log.connectionsLeft.withLock { $0 } }

    /// Runs a body with a server.
    ///
    /// - Parameters:
    ///   - replies: One for each request; when there are no more, connections are closed.
    ///   - host: The address of IPv4 or IPv6 to listen on.
    ///   - body: Uses the server.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the server from starting.
    package static func with<Result: Sendable>(
        _ replies: [Reply],
        at host: String = "127.0.0.1",
        perform body: (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let log = Log(replies)
        return try await HTTPListener.run(at: host) { connection in
            while let head = try await connection.readHead() {
                guard try await serve(head, over: &connection, log: log) else { return }
            }
            log.connectionsLeft.withLock { $0 += 1 }
        } _: { port in
            let host = host.contains(":") ? "[\(host)]" : host
            return try await body(ScriptedServer(endpoint: "http://\(host):\(port)", log: log))
        }
    }

    /// Does with a request as the script says.
    ///
    /// - Returns: Whether the connection stays open.
    private static func serve(
        _ head: ServedRequest,
        over connection: inout ServedConnection,
        log: Log
    ) async throws -> Bool {
        var request = Request(line: head.line, headers: head.headers, connection: connection.id)
        var (reply, index) = log.begin(request)
        if case .decide(let decide) = reply { reply = decide(request) }
        var pause: Duration?
        switch reply {
        case .close: return false
        case .hang: try await Task.sleep(for: hanging)
        case .sendEarly(let text): try await connection.write(ByteBuffer(string: text))
        case .sendEarlyInTwo(let head, let pause, let rest):
            try await connection.write(ByteBuffer(string: head))
            try await Task.sleep(for: pause)
            try await connection.write(ByteBuffer(string: rest))
        case .readSlowly(let duration, _): pause = duration
        case .send, .answer, .sendAndClose, .sendAndHang, .drip, .decide: break
        }
        while request.body.readableBytes < head.length {
            var part = try await connection.readBody(atMost: head.length - request.body.readableBytes)
            let isPieceFull =
                (request.body.readableBytes + part.readableBytes) / pieceBytes > request.body.readableBytes / pieceBytes
            request.body.writeBuffer(&part)
            if let pause, isPieceFull { try await Task.sleep(for: pause) }
        }
        log.requests.withLock { $0[index] = request }
        func send(_ text: String) async throws {
            try await connection.write(ByteBuffer(string: text.replacing(md5, with: md5Hex(request.body))))
        }
        switch reply {
        case .send(let text), .readSlowly(_, let text): try await send(text)
        case .answer(let make): try await send(make(request))
        case .sendAndClose(let text):
            try await send(text)
            return false
        case .sendAndHang(let text):
            try await send(text)
            try await Task.sleep(for: hanging)
        case .drip(let text, let drop, let pause):
            try await send(text)
            while true {
                try await Task.sleep(for: pause)
                try await send(drop)
            }
        case .sendEarly, .sendEarlyInTwo, .hang, .close, .decide: break
        }
        return true
    }

    private static let pieceBytes = 64 * 1_024
    /// Longer than any test waits.
    private static let hanging: Duration = .seconds(3_600)

    private static func md5Hex(_ bytes: ByteBuffer) -> String {
        MD5.hash(bytes.readableBytesView).map { String(format: "%02x", $0) }.joined()
    }

    /// Stands in a reply for the MD5 of the request's body.
    package static let md5 = "{md5}"
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
