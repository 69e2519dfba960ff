import NIOHTTP1
import Testing

@testable import Curl

@Suite("The head of an answer")
struct ResponseHeadParserTests {
    private static func read(_ lines: [String]) -> [ResponseHeadParser.Step] {
        var parser = ResponseHeadParser()
        return lines.reduce(into: []) { steps, line in steps.append(parser.read(line: Array((line + "\r\n").utf8))) }
    }

    @Test("Status and headers are read, with spaces and tabs around values left out")
    func whole() {
        let steps = Self.read(["HTTP/1.1 206 Partial Content", "A: b", "a:\t c d \t", "Empty:", "X: :y:", ""])
        let head = ResponseHead(status: .partialContent, headers: ["A": "b", "a": "c d", "Empty": "", "X": ":y:"])
        #expect(steps == [.more, .more, .more, .more, .more, .head(head)])
    }

    @Test(
        "A status without a reason, of HTTP/2 and of any number, is read",
        arguments: ["HTTP/2 200 ", "HTTP/1.0 200"]
    )
    func status(line: String) {
        #expect(Self.read([line, ""]).last == .head(ResponseHead(status: .ok, headers: [:])))
    }

    @Test("Informational heads are passed over, and trailers are no head")
    func informational() {
        let steps = Self.read([
            "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 204 No Content", "A: b", "", "T: u", "",
        ])
        #expect(steps.prefix(5).allSatisfy { $0 == .more })
        #expect(steps[5] == .head(ResponseHead(status: .noContent, headers: ["A": "b"])))
        #expect(steps.suffix(2) == [.more, .more])
    }

    @Test(
        "What is no head is refused",
        arguments: ["", "A: b", "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 099", "HTTP/1.1 abc"]
    )
    func malformed(line: String) {
        #expect(Self.read([line]) == [.malformed])
        #expect(Self.read(["HTTP/1.1 200 OK", "no colon"]).last == .malformed)
        for field in [": no name", "n\u{FC}me: a", "na me: a", "na\u{0}me: a", "\u{7F}: a"] {
            #expect(Self.read(["HTTP/1.1 200 OK", field]).last == .malformed)
        }
    }

    @Test("A head of 64 KiB is read, and a byte more is too much")
    func size() {
        let first = "HTTP/1.1 200 OK"
        let room = 64 * 1_024 - first.utf8.count - 4 - "A: \r\n".utf8.count
        let fitting = Self.read([first, "A: " + String(repeating: "x", count: room), ""])
        guard case .head = fitting.last else {
            Issue.record("\(fitting)")
            return
        }
        #expect(Self.read([first, "A: " + String(repeating: "x", count: room + 1), ""]).last == .tooLarge)
    }
}
