import NIOCore
import Testing

@testable import HTTPConnection

@Suite("When an answer is sent")
struct SentAnswerTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("Before the first bytes of an answer nothing is waited for, and nothing leaves")
    func before() throws {
        let connection = try EmbeddedConnection()
        connection.receive(Self.get)
        #expect(connection.waitUntilSent().isDone)
        // The head waits for the first bytes of the body.
        connection.beginAnswer(length: 5)
        #expect(connection.waitUntilSent().isDone)
        #expect(try connection.taken().isEmpty)
        connection.write("hello")
        connection.endAnswer()
        let text = try connection.taken()
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\nhello"))
        #expect(connection.waitUntilSent().isDone, "the answer has ended")
    }

    @Test("It is notified once all written bytes are sent, and the answer continues after that", arguments: [nil, 10])
    func taken(length: Int?) throws {
        let connection = try EmbeddedConnection()
        connection.receive(Self.get)
        connection.beginAnswer(length: length)
        connection.stopTaking()
        connection.write("hello")
        let sending = connection.waitUntilSent()
        #expect(!sending.isDone && sending.error == nil)
        connection.takeAll()
        #expect(sending.isDone)
        // An empty piece would end a body in chunks.
        let text = try connection.taken()
        #expect(text.contains("hello") && !text.contains("\r\n0\r\n"))
        connection.write("world")
        connection.endAnswer()
        connection.takeAll()
        let rest = try connection.taken()
        #expect(rest == (length == nil ? "5\r\nworld\r\n0\r\n\r\n" : "world"))
        #expect(connection.isOpen && !connection.isOutputClosed)
    }

    @Test("It fails once the connection itself has answered for a handler that takes too long")
    func timeOut() throws {
        let connection = try EmbeddedConnection()
        connection.receive(Self.get)
        connection.wait(30)
        #expect(try connection.taken().hasPrefix("HTTP/1.1 503 "))
        let sending = connection.waitUntilSent()
        #expect(sending.error as? ChannelError == .outputClosed)
        #expect(try connection.taken().isEmpty)
    }
}
