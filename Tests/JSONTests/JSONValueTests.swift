import Foundation
import JSON
import OrderedCollections
import TestSupport
import Testing

@Suite("JSON values")
struct JSONValueTests {
    @Test(
        "Each form of a value is read",
        arguments: [
            ("null", .null), (" \t\r\n true ", .boolean(true)), ("false", .boolean(false)),
            ("0", .number("0")), ("-0", .number("-0")), ("10.50", .number("10.50")), ("-1e+9", .number("-1e+9")),
            ("1E-7", .number("1E-7")), ("123456789012345678901234567890", .number("123456789012345678901234567890")),
            (#""""#, .string("")), (#""a\"\\\/\b\f\n\r\t""#, .string("a\"\\/\u{8}\u{C}\n\r\t")),
            (#""\u00fC\uD83D\uDE00""#, .string("ü😀")), (#""ü😀""#, .string("ü😀")), (#""\u0000""#, .string("\0")),
            ("[]", .array([])), ("[1, [2] ,3]", .array([.number("1"), .array([.number("2")]), .number("3")])),
            ("{}", .object([:])), (#"{"a" : {"b":null}}"#, .object(["a": .object(["b": .null])])),
            (#"{"a":1,"a":2}"#, .object(["a": .number("2")])),
        ] as [(String, JSONValue)]
    )
    func values(text: String, value: JSONValue) throws {
        #expect(try JSONValue.parse(Array(text.utf8)) == value)
    }

    @Test(
        "What RFC 8259 does not allow is malformed",
        arguments: [
            "", " ", "nul", "True", "+1", "01", "-", "1.", ".5", "1e", "1e+", "0x1", "NaN", "'a'", #""a"#, "\"a\nb\"",
            #""\x""#, #""\u12""#, #""\u12g4""#, #""\uD83D""#, #""\uDE00""#, #""\uD83D\u0041""#, #""\uD83DA""#, "[1,]",
            "[1 2]", "[", "]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", #"{"a":1}}"#, "1 2", "\u{FEFF}1",
            "//1", "[1}", #"{"a":1]"#,
        ]
    )
    func malformed(text: String) {
        #expect(throws: JSONError.malformed) { try JSONValue.parse(Array(text.utf8)) }
    }

    @Test("Bytes that are not UTF-8 are malformed", arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: JSONError.malformed) { try JSONValue.parse([0x22] + bytes + [0x22]) }
    }

    @Test("As much depth as the limit is read, and not one more")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONValue.parse(nested(JSONValue.maxDepth))
        #expect(throws: JSONError.tooDeep) { try JSONValue.parse(nested(JSONValue.maxDepth + 1)) }
        // Beside each other is not in each other.
        _ = try JSONValue.parse(Array("[\(String(repeating: "[],", count: 1000))[]]".utf8))
    }

    @Test("Foundation reads the same texts, and refuses the same but for a comma at the end", .onDedicatedThreads)
    func likeFoundation() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "{", "}", "[", "]", ",", ":", #""a""#, #""\u00e4""#, #""\q""#, "1", "-0.5", "01", "true", "nul", " ",
        ]
        var acceptedCount = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...7, using: &generator)
            let text = (0..<count).map { _ in pieces[Int.random(in: pieces.indices, using: &generator)] }.joined()
            if text.contains(/,\s*[\]}]/) { continue }
            let ours = try? JSONValue.parse(Array(text.utf8))
            let theirs = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            #expect((ours == nil) == (theirs == nil), "\(text)")
            if ours != nil { acceptedCount += 1 }
        }
        #expect(acceptedCount > 100)
    }
}
