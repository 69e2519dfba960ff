import HTTPTypes
import NIOCore
import NIOHTTPTypes
import TestSupport
import Testing

@testable import HTTPConnection

/// The limits as they are in use, by a clock that the test moves.
@Suite("A connection, by a clock of its own")
struct ConnectionClockTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// A refusal of the layers below the router, or what is wrong with it.
    private func expectRefusal(
        _ status: Int,
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)", sourceLocation: sourceLocation)
        #expect(text.hasSuffix("}") && text.contains("{\"status\":\(status),"), sourceLocation: sourceLocation)
        for field in ["content-type: application/json; charset=utf-8", "x-content-type-options: nosniff"] {
            #expect(text.contains("\r\n\(field)\r\n"), "\(field)", sourceLocation: sourceLocation)
        }
        #expect(text.contains("\r\nconnection: close\r\n"), sourceLocation: sourceLocation)
        #expect(text.contains(/\r\nx-request-id: [0-9a-f]{32}\r\n/), sourceLocation: sourceLocation)
    }

    @Test("A connection without a request is closed after 60 s, used or not", arguments: [false, true])
    func idle(isUsed: Bool) throws {
        let connection = try EmbeddedConnection()
        if isUsed {
            connection.wait(30)
            connection.receive(Self.get)
            connection.answer()
            #expect(try connection.taken().hasPrefix("HTTP/1.1 200 "))
        }
        connection.wait(59)
        #expect(connection.isOpen)
        connection.wait(1)
        #expect(!connection.isOpen)
        #expect(try connection.taken().isEmpty)
    }

    @Test("A header that trickles in is refused after 20 s")
    func tricklingHeader() throws {
        let connection = try EmbeddedConnection()
        for byte in "GET / HTTP/1.1\r\nX-Slow".prefix(19) {
            connection.receive(String(byte))
            connection.wait(1)
        }
        #expect(try connection.taken().isEmpty)
        connection.wait(1)
        expectRefusal(408, try connection.taken())
        #expect(connection.log.entries.count { $0.contains("status=408") && $0.contains("endpoint=none") } == 1)
        #expect(connection.isOutputClosed)
        connection.receive("x")
        connection.wait(4)
        #expect(connection.isOpen, "what still comes is dropped for 5 s, so that the client sees the answer")
        connection.wait(2)
        #expect(!connection.isOpen)
        #expect(try connection.parts().isEmpty)
    }

    @Test("A body that is silent for 12 s fails, and the answer to it is the last", arguments: [0, 1, 3 * 1024 - 1])
    func silentBody(bytes: Int) throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        connection.receive(String(repeating: "x", count: bytes))
        connection.wait(11)
        #expect(connection.failure == nil)
        connection.wait(1)
        #expect(connection.failure is SlowRequestError)
        connection.answer(.requestTimeout)
        #expect(try connection.taken().contains("\r\nconnection: close\r\n"))
        #expect(connection.isOutputClosed)
        connection.wait(6)
        #expect(!connection.isOpen)
    }

    @Test("A failed body that is not answered is closed after 12 s")
    func unansweredBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        connection.wait(23)
        #expect(connection.failure is SlowRequestError && connection.isOpen)
        connection.wait(1)
        #expect(!connection.isOpen)
    }

    @Test(
        "A body has 60 s, or as long as its bytes take at 32 KiB a second",
        arguments: [(1, 60), (60, 60), (62, 62), (200, 200)]
    )
    func bodyTime(length: Int, seconds: Int64) throws {
        // Lengths are in 32 KiB, and each second brings enough to be no silence.
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length * 32 * 1024)\r\n\r\n")
        for _ in 0..<seconds - 2 {
            connection.wait(1)
            connection.receive(String(repeating: "x", count: 512))
        }
        #expect(connection.failure == nil)
        connection.wait(2)
        #expect(connection.failure is SlowRequestError && connection.isOpen)
        connection.answer(.requestTimeout)
        #expect(try connection.taken().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("A body in chunks must bring 32 KiB a second after 60 s")
    func chunkedBodyTime() throws {
        for (bytes, isFast) in [(33 * 1024, true), (31 * 1024, false)] {
            let connection = try EmbeddedConnection()
            connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<90 {
                connection.receive("\(String(bytes, radix: 16))\r\n\(String(repeating: "x", count: bytes))\r\n")
                connection.wait(1)
            }
            #expect((connection.failure == nil) == isFast)
        }
    }

    @Test("Time in which the server does not read counts for no body")
    func stalledBodyTime() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        for _ in 0..<10 {
            connection.isServerReading = false
            connection.receive(String(repeating: "x", count: 4_000))
            connection.wait(20)
            connection.isServerReading = true
            connection.read()
            connection.wait(2)
        }
        #expect(connection.failure == nil && connection.isOpen)
    }

    @Test("A body that brings 3 KiB every 12 s is not closed")
    func steadyBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(4 * 3 * 1024)\r\n\r\n")
        for _ in 0..<4 {
            connection.wait(12 - 1)
            connection.receive(String(repeating: "x", count: 3 * 1024))
            connection.wait(1)
        }
        #expect(connection.failure == nil)
        connection.answer()
        #expect(try connection.taken().hasPrefix("HTTP/1.1 200 "))
        #expect(connection.isOpen && !connection.isOutputClosed)
    }

    @Test("A client is not slow while the server does not read")
    func busyServer() throws {
        let connection = try EmbeddedConnection()
        connection.isServerReading = false
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        connection.wait(26)
        #expect(connection.failure == nil && connection.isOpen)
        connection.read()
        connection.wait(11)
        #expect(connection.failure == nil)
        connection.wait(2)
        #expect(connection.failure is SlowRequestError)
    }

    @Test("A client that takes nothing of its answer is dropped within 30 s", arguments: [1, 100_000])
    func unreadAnswer(length: Int) throws {
        let connection = try EmbeddedConnection()
        connection.stopTaking()
        connection.receive(Self.get)
        connection.beginAnswer(length: length)
        connection.write(String(repeating: "x", count: length))
        connection.wait(25)
        #expect(connection.isOpen)
        connection.wait(5)
        #expect(!connection.isOpen)
    }

    @Test("A client that takes 16 KiB every 24 s gets all of its answer, one that takes a byte less is dropped")
    func slowReader() throws {
        for (step, isOpen) in [(16 * 1024, true), (16 * 1024 - 1, false)] {
            let connection = try EmbeddedConnection()
            let piece = String(repeating: "x", count: step)
            connection.stopTaking()
            connection.receive(Self.get)
            connection.beginAnswer(length: 100 * 16 * 1024)
            connection.write(piece)
            connection.wait(2)
            for _ in 0..<20 where connection.isOpen {
                connection.takeAll()
                connection.write(piece)
                connection.wait(24)
            }
            #expect(connection.isOpen == isOpen, "\(step)")
        }
    }

    @Test("A last answer has the time of any other, and what follows it 5 s more")
    func slowlyTakenLastAnswer() throws {
        let connection = try EmbeddedConnection()
        connection.stopTaking()
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        connection.answer(body: "hello")
        connection.wait(20)
        #expect(connection.isOpen && !connection.isOutputClosed)
        connection.takeAll()
        #expect(try connection.taken().hasSuffix("\r\n\r\nhello"))
        #expect(connection.isOutputClosed)
        connection.wait(4)
        #expect(connection.isOpen)
        connection.wait(2)
        #expect(!connection.isOpen)
    }

    @Test(
        "What only reads is given up 2 s after the client closed its side, what writes never",
        arguments: [("GET", true), ("HEAD", true), ("POST", false), ("DELETE", false)]
    )
    func halfClosed(method: String, isGivenUp: Bool) throws {
        let connection = try EmbeddedConnection()
        connection.receive("\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        connection.wait(10)
        connection.finish()
        #expect(!connection.isAbandoned)
        connection.wait(4)
        #expect(connection.isAbandoned == isGivenUp)
        connection.wait(10)
        #expect(connection.isAbandoned == isGivenUp)
        #expect(connection.isOpen)
    }

    @Test("A client that closes its side and reads on gets an answer that has begun, however long that takes")
    func halfClosedReader() throws {
        let connection = try EmbeddedConnection()
        connection.receive(Self.get)
        connection.beginAnswer(length: 10)
        connection.write("hello")
        connection.finish()
        connection.wait(600)
        #expect(!connection.isAbandoned && connection.isOpen)
    }

    @Test(
        "A request without an answer after 27 s gets 503 before 30 s, with its own id",
        arguments: [nil, "an-id-of-the-client"]
    )
    func timeOut(id: String?) throws {
        let connection = try EmbeddedConnection()
        let name = id.map { "X-Request-Id: \($0)\r\n" } ?? ""
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\n\(name)Content-Length: 5\r\n\r\n")
        connection.wait(11)
        connection.receive("hello")
        var requestID = ""
        for part in try connection.parts() {
            if case .head(let head) = part { requestID = RequestIdentifier.of(head.headerFields) }
        }
        #expect(id == nil || requestID == id)
        connection.wait(26)
        #expect(try connection.taken().isEmpty)
        connection.wait(3)
        let answer = try connection.taken()
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: 5\r\n"))
        #expect(answer.contains("\r\nconnection: close\r\n") && answer.contains("{\"status\":503,"))
        #expect(answer.contains("\r\nx-request-id: \(requestID)\r\n"))
        let lines = connection.log.entries.filter { $0.contains("answered 503") }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains("method=POST") && $0.contains(requestID) })

        // What its handler does now has no effect.
        #expect(connection.isOutputClosed)
        connection.answer(body: "too late")
        #expect(throws: ChannelError.outputClosed) { try connection.sendFile() }
        #expect(try connection.taken().isEmpty)
        // The client may read the answer first; then its handler is cancelled.
        #expect(!connection.isAbandoned)
        connection.wait(3)
        #expect(connection.isOpen)
        connection.wait(2)
        #expect(!connection.isOpen && connection.isAbandoned)
    }

    @Test("A HEAD request that is timed out gets the head of its answer alone")
    func timeOutOfHead() throws {
        let connection = try EmbeddedConnection()
        connection.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        connection.wait(29)
        let answer = try connection.taken()
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.hasSuffix("\r\n\r\n"))
    }

    @Test("A request of a client that has closed its side is timed out, and given up at once")
    func timeOutHalfClosed() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        connection.finish()
        connection.wait(26)
        #expect(connection.isOpen && !connection.isAbandoned)
        connection.wait(3)
        #expect(try connection.taken().hasPrefix("HTTP/1.1 503 "))
        #expect(!connection.isOpen && connection.isAbandoned)
    }

    @Test("A request whose handler reads nothing of its body is timed out")
    func timeOutInBody() throws {
        let connection = try EmbeddedConnection()
        connection.isServerReading = false
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx")
        connection.wait(26)
        #expect(try connection.taken().isEmpty && connection.failure == nil)
        connection.wait(3)
        #expect(try connection.taken().hasPrefix("HTTP/1.1 503 "))
    }

    @Test("The second of two requests at once is named by its own id when it is timed out")
    func timeOutOfSecond() throws {
        let connection = try EmbeddedConnection()
        for id in ["first", "second"] {
            connection.receive("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: \(id)\r\n\r\n")
        }
        connection.wait(20)
        connection.answer()
        #expect(try connection.taken().hasPrefix("HTTP/1.1 200 "))
        connection.wait(26)
        #expect(try connection.taken().isEmpty)
        connection.wait(3)
        #expect(try connection.taken().contains("\r\nx-request-id: second\r\n"))
    }

    @Test("What only reads is given up at once when the connection ends", arguments: [("GET", true), ("POST", false)])
    func left(method: String, isGivenUp: Bool) throws {
        let connection = try EmbeddedConnection()
        connection.receive("\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        connection.leave()
        #expect(connection.isAbandoned == isGivenUp)
    }
}
