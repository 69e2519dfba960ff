import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import HTTPConnection

@Suite("A connection, packet by packet")
struct ConnectionHandlerTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func heads(_ parts: [HTTPRequestPart]) -> Int {
        parts.count { if case .head = $0 { true } else { false } }
    }

    @Test("Requests that come in one packet are each passed on, and each answered, in turn")
    func pipelining() throws {
        let connection = try EmbeddedConnection()
        connection.receive(String(repeating: Self.get, count: 3))
        #expect(heads(try connection.parts()) == 3)
        for number in 1...3 {
            connection.answer(body: "\(number)")
            let text = try connection.taken()
            #expect(text.hasSuffix("\r\n\r\n\(number)") && !text.contains("connection:"))
        }
        connection.wait(59)
        #expect(connection.isOpen && !connection.isOutputClosed)
    }

    @Test("100 Continue is sent once, and not to a client that sends without it")
    func leave() throws {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        let patient = try EmbeddedConnection()
        patient.receive(head)
        #expect(try patient.taken().isEmpty, "only whoever wants the body gives leave")
        patient.wantBody()
        patient.wantBody()
        #expect(try patient.taken() == "HTTP/1.1 100 Continue\r\n\r\n")
        patient.receive("ab")
        patient.answer()
        #expect(try patient.taken().hasPrefix("HTTP/1.1 200 "))
        #expect(!patient.isOutputClosed)

        let impatient = try EmbeddedConnection()
        impatient.receive(head + "a")
        impatient.wantBody()
        #expect(try impatient.taken().isEmpty)
    }

    @Test("An answer before the body ends the connection, and nothing that still comes is passed on")
    func earlyAnswer() throws {
        for framing in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
            let connection = try EmbeddedConnection()
            connection.receive("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
            #expect(try connection.parts().count == 1)
            connection.answer(.contentTooLarge)
            let text = try connection.taken()
            #expect(text.hasPrefix("HTTP/1.1 413 ") && text.contains("\r\nconnection: close\r\n"))
            #expect(connection.isOutputClosed && connection.isOpen)
            connection.receive(String(repeating: "x", count: 50_000))
            connection.receive(Self.get)
            #expect(try connection.parts().isEmpty)
            #expect(try connection.taken().isEmpty)
            connection.finish()
            #expect(!connection.isOpen, "the client has seen the answer")
        }
    }

    @Test("A header of 16 KiB is taken, and one of a byte more refused")
    func headerBytes() throws {
        // What counts are the target, and the fields' names and values.
        for (count, isTaken) in [(16_384, true), (16_385, false), (200_000, false)] {
            for shape in ["target", "value", "name"] {
                let connection = try EmbeddedConnection()
                func padding(_ rest: String) -> String { String(repeating: "x", count: count - rest.utf8.count) }
                let head =
                    switch shape {
                    case "target": "GET /\(padding("/hosta")) HTTP/1.1\r\nHost: a\r\n\r\n"
                    case "value": "GET / HTTP/1.1\r\nHost: a\r\nX: \(padding("/hostax"))\r\n\r\n"
                    default: "GET / HTTP/1.1\r\nHost: a\r\n\(padding("/hostay")): y\r\n\r\n"
                    }
                connection.receive(head)
                #expect(heads(try connection.parts()) == (isTaken ? 1 : 0), "\(count) \(shape)")
                #expect(try connection.taken().hasPrefix("HTTP/1.1 431 ") == !isTaken, "\(count) \(shape)")
                #expect(connection.isOutputClosed == !isTaken)
            }
        }
    }

    @Test("A hundred header fields are taken, and one more refused")
    func headerFields() throws {
        for (count, isTaken) in [(100, true), (101, false)] {
            let connection = try EmbeddedConnection()
            connection.receive("GET / HTTP/1.1\r\n\((0..<count).map { "X-\($0): y\r\n" }.joined())\r\n")
            #expect(heads(try connection.parts()) == (isTaken ? 1 : 0))
            #expect(try connection.taken().hasPrefix("HTTP/1.1 431 ") == !isTaken)
        }
    }

    @Test("Malformed bytes fail the body they are in; after a whole request, its answer ends the connection")
    func garbage() throws {
        let reading = try EmbeddedConnection()
        reading.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
        #expect(reading.failure is HTTPParserError)
        #expect(reading.isOpen)
        reading.answer(.badRequest)
        #expect(try reading.taken().contains("\r\nconnection: close\r\n"))
        #expect(reading.isOutputClosed)

        let answering = try EmbeddedConnection()
        answering.receive(Self.get)
        answering.receive("garbage\r\n\r\n" + Self.get)
        #expect(answering.isOpen)
        #expect(heads(try answering.parts()) == 1)
        answering.answer(body: "hello")
        let text = try answering.taken()
        #expect(
            text.hasPrefix("HTTP/1.1 200 ") && text.contains("\r\nconnection: close\r\n") && text.hasSuffix("hello")
        )
        #expect(answering.isOutputClosed)

        let together = try EmbeddedConnection()
        together.receive(Self.get + Self.get + "garbage\r\n\r\n")
        for _ in 0..<2 { together.answer(body: "hello") }
        let answers = try together.taken()
        #expect(answers.split(separator: "HTTP/1.1 200 ").count == 2)
        #expect(together.isOutputClosed)

        let answered = try EmbeddedConnection()
        answered.receive(Self.get)
        answered.answer()
        _ = try answered.taken()
        answered.receive("garbage\r\n\r\n")
        #expect(try answered.taken().hasPrefix("HTTP/1.1 400 "))
        #expect(answered.isOutputClosed)
    }

    @Test("After what looks like another protocol, the connection ends with the answer", arguments: ["GET", "CONNECT"])
    func otherProtocol(method: String) throws {
        let connection = try EmbeddedConnection()
        let target = method == "GET" ? "/" : "a:1"
        connection.receive("\(method) \(target) HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
        connection.answer(.notFound)
        let text = try connection.taken()
        #expect(text.hasPrefix("HTTP/1.1 404 ") && text.contains("\r\nconnection: close\r\n"), "\(text)")
        #expect(connection.isOutputClosed && connection.isOpen)
    }

    @Test("At shutdown a connection ends at once, or with the answer to the request that is under way")
    func shutdown() throws {
        let idle = try EmbeddedConnection()
        idle.receive(Self.get)
        idle.answer()
        idle.shutDown()
        #expect(!idle.isOpen)

        let new = try EmbeddedConnection()
        new.shutDown()
        #expect(new.isOpen, "its first request may be on its way")
        new.wait(2)
        #expect(!new.isOpen)

        let busy = try EmbeddedConnection()
        busy.receive("GET / HTTP/1.1\r\nHo")
        busy.shutDown()
        #expect(busy.isOpen)
        busy.receive("st: a\r\n\r\n")
        #expect(heads(try busy.parts()) == 1)
        busy.answer()
        #expect(try busy.taken().contains("\r\nconnection: close\r\n"))
        #expect(busy.isOutputClosed)
        busy.receive(Self.get)
        #expect(try busy.parts().isEmpty)
    }

    @Test("Eight requests wait in line, and the next is parsed when one is answered", arguments: [1, 7, 1_000_000])
    func line(bytesPerRead: Int) throws {
        let connection = try EmbeddedConnection()
        var rest = ByteBuffer(string: String(repeating: Self.get, count: 20))
        while let read = rest.readSlice(length: min(bytesPerRead, rest.readableBytes)), read.readableBytes > 0 {
            connection.receive(read)
        }
        #expect(heads(try connection.parts()) == 8)
        for number in 0..<20 {
            connection.answer(body: "\(number)")
            connection.waitForTurns()
            #expect(heads(try connection.parts()) == (number < 12 ? 1 : 0), "\(number)")
        }
        let answers = try connection.taken()
        #expect(answers.split(separator: "HTTP/1.1 200 ").count == 20)
        // After that it continues as before.
        connection.receive(Self.get)
        #expect(heads(try connection.parts()) == 1)
    }

    @Test("Bodies of requests in line are whole, whatever empty lines they have")
    func lineWithBodies() throws {
        let connection = try EmbeddedConnection()
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\na\r\n\r\nb\n\nc\r\n\n"
        connection.receive(String(repeating: post, count: 12))
        var bodies: [String] = []
        for _ in 0..<13 {
            for case .body(let bytes) in try connection.parts() { bodies.append(String(buffer: bytes)) }
            connection.answer()
            connection.waitForTurns()
        }
        // One piece each: bodies of empty lines cost no more than others.
        #expect(bodies == Array(repeating: "a\r\n\r\nb\n\nc\r\n\n", count: 12))
    }

    @Test("A body in chunks of empty lines is passed on in few pieces, and what follows it in line stays limited")
    func chunks() throws {
        let connection = try EmbeddedConnection()
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let lines = String(repeating: "\n", count: 10_000)
        connection.receive("\(head)\(String(10_000, radix: 16))\r\n\(lines)\r\n0\r\n\r\n\(Self.get)")
        var parts = try connection.parts()
        var bodies = parts.compactMap { if case .body(let bytes) = $0 { String(buffer: bytes) } else { nil } }
        #expect(bodies.joined() == lines && bodies.count < 25 && heads(parts) == 2)
        for _ in 0..<2 { connection.answer() }
        #expect(try !connection.taken().contains("close"))

        // A short end of a body, and many requests in the same piece.
        connection.receive(head + "1\r\na\r\n0\r\n\r\n" + String(repeating: "GET / HTTP/1.1\r\n\r\n", count: 20))
        parts = try connection.parts()
        bodies = parts.compactMap { if case .body(let bytes) = $0 { String(buffer: bytes) } else { nil } }
        #expect(bodies == ["a"] && heads(parts) == 8)
        for _ in 0..<8 { connection.answer() }
        // Those that were dropped are sent again over another connection.
        let answers = try connection.taken().split(separator: "HTTP/1.1 200 ")
        #expect(answers.map { $0.contains("connection: close") } == Array(repeating: false, count: 7) + [true])
        #expect(connection.isOutputClosed)
    }

    @Test("All requests in line are answered though their client has closed its side")
    func lineBeforeTheEnd() throws {
        let connection = try EmbeddedConnection()
        connection.receive(String(repeating: Self.get, count: 20))
        connection.finish()
        for number in 0..<20 {
            connection.answer(body: "\(number)")
            connection.waitForTurns()
        }
        #expect(try connection.taken().split(separator: "HTTP/1.1 200 ").count == 20)
    }

    @Test("A client that closes its side after ignored bytes is disconnected with the last answer")
    func endBehindWhatIsDropped() throws {
        let connection = try EmbeddedConnection()
        connection.receive(String(repeating: Self.get, count: 20))
        connection.finish()
        connection.shutDown()
        for _ in 0..<8 { connection.answer(body: "hello") }
        connection.waitForTurns()
        #expect(try connection.taken().hasSuffix("hello"))
        connection.read()
        #expect(!connection.isOpen)
    }

    @Test("Malformed bytes after a request may arrive in any number of pieces", arguments: [1, 3])
    func garbageInPieces(pieceCount: Int) throws {
        let connection = try EmbeddedConnection()
        connection.receive(Self.get + "no http\r\n\r\n")
        for _ in 0..<pieceCount { connection.receive("more\r\n\r\n") }
        #expect(connection.failure == nil && connection.isOpen)
        connection.answer(body: "hello")
        #expect(try connection.taken().hasSuffix("hello") && connection.isOutputClosed)
        connection.receive("and more")
        #expect(connection.failure == nil)
    }

    @Test("A client that closes its side behind more than fits is let go")
    func tooMuchHeld() throws {
        let connection = try EmbeddedConnection()
        // The system hands over all that there is before the end, asked for or not.
        for _ in 0..<5 { connection.receive(String(repeating: Self.get, count: 1_000)) }
        #expect(!connection.isOpen)
        let other = try EmbeddedConnection()
        other.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        for _ in 0..<5 { other.receive(String(repeating: "x", count: 200_000)) }
        #expect(other.isOpen, "a body is not held")
    }

    @Test("What a connection may hold is limited as documented")
    func limits() {
        #expect(ConnectionLimits().maxReadBytes == 16_384)
        #expect(ConnectionLimits().maxBodyReadBytes == 262_144)
        #expect(ConnectionLimits.maxReadsAtOnce == 1)
        #expect(ConnectionLimits().maxUnsentBytes == 32_768)
        #expect(ConnectionLimits().maxWaitingRequests == 8)
        #expect(ConnectionLimits().writeBufferWaterMark.high == 8_192)
    }

    @Test("A request may come byte by byte")
    func byteByByte() throws {
        let connection = try EmbeddedConnection()
        for byte in Self.get.utf8 { connection.receive(ByteBuffer(bytes: [byte])) }
        #expect(heads(try connection.parts()) == 1)
        connection.answer(body: "hello")
        #expect(try connection.taken().hasSuffix("hello"))
    }

    @Test("A head with its body's length waits for the first bytes; one without is sent at once")
    func heads() throws {
        let photo = try EmbeddedConnection()
        photo.receive(Self.get)
        photo.beginAnswer(length: 2)
        #expect(try photo.taken().isEmpty)
        photo.write("ab")
        #expect(try photo.taken().hasSuffix("\r\n\r\nab"))

        let events = try EmbeddedConnection()
        events.receive(Self.get)
        events.beginAnswer(length: nil)
        let head = try events.taken()
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
        events.wait(120)
        #expect(events.isOpen)
        events.write("ab")
        #expect(try events.taken().contains("ab"))
    }
}
