import Logging
import Testing

@testable import selfie

@Suite("Lines of the log")
struct LineLogHandlerTests {
    private func line(
        _ message: Logger.Message,
        _ metadata: Logger.Metadata?,
        handler: Logger.Metadata = [:],
        level: Logger.Level = .info
    ) -> String {
        let event = LogEvent(
            level: level,
            message: message,
            metadata: metadata,
            source: nil,
            file: "",
            function: "",
            line: 0
        )
        return String(decoding: LineLogHandler.line(of: event, with: handler, at: "NOW"), as: UTF8.self)
    }

    @Test("A line is time, level, message, and values by their keys")
    func format() {
        let metadata: Logger.Metadata = [
            "status": "200", "route": "/", "method": "GET", "duration_ms": .stringConvertible(1.5), "z": ["a", "b"],
        ]
        #expect(
            line("request", metadata, handler: ["request_id": "abc"])
                == "NOW info request duration_ms=1.5 method=GET request_id=abc route=/ status=200 z=[\"a\", \"b\"]\n"
        )
        #expect(line("ended", nil, level: .critical) == "NOW critical ended\n")
        #expect(line("ended", nil, handler: ["b": "1", "a": "2"]) == "NOW info ended a=2 b=1\n")
    }

    @Test("An event's own value replaces the logger's")
    func replaced() {
        #expect(line("x", ["a": "new"], handler: ["a": "old", "b": "kept"]) == "NOW info x a=new b=kept\n")
    }

    @Test("No message, key or value begins another line", arguments: Array(0..<0x20) + [0x7F])
    func controlCharacters(number: UInt32) throws {
        let character = String(try #require(Unicode.Scalar(number)))
        #expect(
            line("a\(character)b", ["k\(character)": "\(character)ü😀\(character)\(character)"])
                == "NOW info a b k =\(" ")ü😀  \n"
        )
    }
}
