import Foundation
import NIOCore
import NIOFoundationCompat
import ServerProcesses
import Testing

@testable import JSON

@Suite("Written JSON")
struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter(capacity: 1)
        body(&json)
        return String(buffer: json.buffer)
    }

    @Test("Members keep their order, and commas stand between them only")
    func structure() {
        let text = text { json in
            json.array([1, 2]) { json, number in
                json.object { json in
                    json.member("b", number)
                    json.member("a", nil)
                    json.member("c", "x")
                }
            }
        }
        #expect(text == #"[{"b":1,"a":null,"c":"x"},{"b":2,"a":null,"c":"x"}]"#)
    }

    @Test("A member may hold any value, written or as JSON already")
    func nested() {
        let text = text { json in
            json.object { json in
                json.nested("a") { $0.array([1, 2]) { json, _ in json.object { _ in } } }
                Array(#"{"x":[1.0]}"#.utf8).withUnsafeBytes { json.member("b", json: $0) }
                json.nested("c") { $0.object { $0.member("d", 1) } }
                json.member("e", "x")
            }
        }
        #expect(text == #"{"a":[{},{}],"b":{"x":[1.0]},"c":{"d":1},"e":"x"}"#)
    }

    @Test("What is empty stays empty")
    func empty() {
        #expect(text { $0.object { _ in } } == "{}")
        #expect(text { $0.array([Int]()) { _, _ in } } == "[]")
        #expect(text { $0.object { $0.member("a", "") } } == #"{"a":""}"#)
        #expect(text { $0.array([1, 2]) { json, _ in json.object { _ in } } } == "[{},{}]")
    }

    @Test("What must be escaped is, as short as possible, and nothing else")
    func escapes() {
        let text = text { $0.object { $0.member("a", "\"\\/\n\r\t\u{0}\u{1F}\u{7F}ü😀\u{2028}") } }
        #expect(text == #"{"a":"\"\\/\n\r\t\u0000\u001f"# + "\u{7F}ü😀\u{2028}\"}")
    }

    @Test("Foundation reads every text back as it was")
    func everyScalar() throws {
        let values = Array(0...0x1000) + stride(from: 0x1007, through: 0x10FFFF, by: 251)
        let scalars = values.compactMap { Unicode.Scalar(UInt32($0)) }
        var samples = scalars.map { "a\($0)b" }
        samples += ["\r\n", "e\u{301}", "👩‍👩‍👧", String(repeating: "\"", count: 5000)]
        var json = JSONWriter()
        json.array(samples) { json, sample in json.object { $0.member("a", sample) } }
        let read = try JSONSerialization.jsonObject(with: Data(buffer: json.buffer)) as? [[String: String]]
        let found = try #require(read).map { Array(($0["a"] ?? "").unicodeScalars) }
        #expect(found == samples.map { Array($0.unicodeScalars) })
    }

    @Test("Numbers are written whole", arguments: [0, -1, 200, Int.max, Int.min])
    func numbers(number: Int) {
        #expect(text { $0.object { $0.member("status", number) } } == #"{"status":\#(number)}"#)
    }

    private static let shortEscapes: [UInt8: String] = [
        0x22: #"\""#, 0x5C: #"\\"#, 0x0A: #"\n"#, 0x0D: #"\r"#, 0x09: #"\t"#,
    ]

    @Test("Every ASCII character is escaped or not wherever it stands in a text", arguments: UInt8(0)..<0x80)
    func everyPlace(character: UInt8) {
        let digits = String(character, radix: 16)
        let long = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        let plain = String(decoding: [character], as: UTF8.self)
        let expected = Self.shortEscapes[character] ?? (character < 0x20 ? long : plain)
        for before in 0..<20 {
            for after in [0, 1, 7, 8, 9] {
                let (start, end) = (String(repeating: "a", count: before), String(repeating: "ü", count: after))
                let text = text { $0.object { $0.member("a", start + plain + end) } }
                #expect(text == #"{"a":""# + start + expected + end + #""}"#)
            }
        }
    }

    @Test("Texts of any length are written whole", arguments: [0, 1, 255, 256, 257, 100_000])
    func lengths(length: Int) {
        for letter in ["a", "\u{1}", "😀"] {
            let value = String(repeating: letter, count: length)
            let written = value.replacing("\u{1}", with: #"\u0001"#)
            #expect(text { $0.object { $0.member("a", value) } } == #"{"a":""# + written + #""}"#)
        }
    }
}
