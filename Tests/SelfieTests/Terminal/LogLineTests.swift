import Foundation
import Logging
import SelfieConfiguration
import Testing

@testable import selfie

@Suite("Lines of the log")
struct LogLineTests {
    private func line(
        _ message: Logger.Message,
        _ metadata: Logger.Metadata?,
        handler: Logger.Metadata = [:],
        level: Logger.Level = .info,
        format: LogFormat = .logfmt,
        isTerminal: Bool = false
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
        let style = LogLine.Style(format: format, isTerminal: isTerminal)
        let bytes = LogLine(event, metadata: handler, time: "NOW").bytes(style)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let metadata: Logger.Metadata = [
        "status": .stringConvertible(200), "endpoint": "/", "method": "GET", "ms": .stringConvertible(1.5),
        "broken_off": .stringConvertible(true), "z": ["a", "b"],
    ]

    @Test("A line of logfmt is time, level, message, and values by their keys")
    func logfmt() {
        #expect(
            line("request", Self.metadata, handler: ["request_id": "abc"])
                == "time=NOW level=info msg=request broken_off=true endpoint=/ method=GET ms=1.5 request_id=abc "
                + "status=200 z=\"[\\\"a\\\", \\\"b\\\"]\"\n"
        )
        #expect(line("has ended", nil, level: .critical) == "time=NOW level=critical msg=\"has ended\"\n")
        #expect(line("x", ["a": "", "b": "1=2", "c d": "3"]) == "time=NOW level=info msg=x a=\"\" b=\"1=2\" c_d=3\n")
    }

    @Test("A line of JSON has numbers as numbers, and no value that replaces another")
    func json() throws {
        let text = line("request", Self.metadata, handler: ["request_id": "a\"b", "level": "mine"], format: .json)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["time"] as? String == "NOW" && object["level"] as? String == "info")
        #expect(object["msg"] as? String == "request" && object["level_"] as? String == "mine")
        #expect(object["status"] as? Int == 200 && object["ms"] as? Double == 1.5)
        #expect(object["broken_off"] as? Bool == true && object["request_id"] as? String == "a\"b")
        #expect(text.hasPrefix(#"{"time":"NOW","level":"info","msg":"request","broken_off":true,"endpoint":"/","#))
        #expect(text.hasSuffix("}\n"))
    }

    @Test("An event's own value replaces the logger's")
    func replaced() {
        #expect(
            line("x", ["a": "new"], handler: ["a": "old", "b": "kept"]) == "time=NOW level=info msg=x a=new b=kept\n"
        )
    }

    @Test("Levels have colors on a terminal, but not in JSON")
    func colors() {
        #expect(
            line("x", nil, level: .warning, isTerminal: true) == "time=NOW level=\u{1B}[33mwarning\u{1B}[0m msg=x\n"
        )
        #expect(!line("x", nil, format: .json, isTerminal: true).contains("\u{1B}"))
    }

    @Test(
        "No message, key or value begins another line or moves a terminal's cursor",
        arguments: Array(0..<0x20) + [0x7F],
        LogFormat.allCases
    )
    func controlCharacters(number: UInt32, format: LogFormat) throws {
        let character = String(try #require(Unicode.Scalar(number)))
        let text = line("a\(character)b", ["k\(character)": "\(character)ü😀\(character)"], format: format)
        #expect(text.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(text.last == "\n")
        #expect(text.contains("ü😀"))
    }
}
