import Encodings
import JSON
import NIOCore
import Testing

@testable import SelfieWeb

@Suite("JSON parameters")
struct JSONParametersTests {
    @Test(
        "Members are read as text; others count as missing",
        arguments: [
            ("", [:]),
            ("{}", [:]),
            (#"{"a":"x"}"#, ["a": "x"]),
            (#" {"a" : "x" , "b" : ""} "#, ["a": "x", "b": ""]),
            (#"{"a":1}"#, ["a": "1"]),
            (#"{"a":0}"#, ["a": "0"]),
            (#"{"a":-12}"#, ["a": "-12"]),
            (#"{"a":1.5}"#, ["a": "1.5"]),
            (#"{"a":true,"b":false}"#, ["a": "true", "b": "false"]),
            (#"{"a":null,"b":[],"c":{},"d":["x"],"e":{"f":"x"}}"#, [:]),
            (#"{"a":"\u00fc\ud83d\ude00\n\"\\\/"}"#, ["a": "ü😀\n\"\\/"]),
            (#"{"a":"ü😀"}"#, ["a": "ü😀"]),
            (#"{"a":"\u0000"}"#, ["a": "\0"]),
            (#"{"a":"1","a":"2"}"#, ["a": "2"]),
            (#"[{"a":"x"}]"#, [:]),
            (#""a""#, [:]),
            ("null", [:]),
            ("12", [:]),
        ] as [(String, [String: String])]
    )
    func members(text: String, expected: [String: String]) throws {
        #expect(try JSONParameters.parse(ByteBuffer(string: text)).texts == expected)
    }

    @Test("Arrays and objects are kept, for parameters that are JSON")
    func structures() throws {
        let text = #"{"a":null,"b":[1],"c":{"d":"x"},"e":"x","f":[],"f":"y","g":"z","g":{}}"#
        let (texts, structures) = try JSONParameters.parse(ByteBuffer(string: text))
        #expect(texts == ["e": "x", "f": "y"])
        #expect(structures == ["b": [1], "c": ["d": "x"], "g": [:]])
    }

    @Test(
        "Other texts are malformed",
        arguments: [
            "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":"x}"#, #"{'a':'x'}"#, #"{"a":"x"}{"#, "a=x",
            #"{"full_name":"Ada "Countess" Lovelace"}"#, #"{"a":"\ud83d"}"#, #"{"a":"\x"}"#, #"{"a":01}"#, " ",
        ]
    )
    func malformed(text: String) {
        #expect(throws: ServiceError.malformedJSON) { try JSONParameters.parse(ByteBuffer(string: text)) }
    }

    @Test("Endless nesting is malformed, and deep nesting does not crash")
    func nesting() throws {
        for opening in ["[", #"{"a":"#] {
            let text = String(repeating: opening, count: 256 * 1024 / opening.utf8.count)
            #expect(throws: ServiceError.malformedJSON) { try JSONParameters.parse(ByteBuffer(string: text)) }
        }
        let closed = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: ServiceError.malformedJSON) { try JSONParameters.parse(ByteBuffer(string: closed)) }
        let flat = #"{"a":\#(String(repeating: "[", count: 100))\#(String(repeating: "]", count: 100)),"b":"x"}"#
        #expect(try JSONParameters.parse(ByteBuffer(string: flat)).texts == ["b": "x"])
    }

    @Test("As many members as the limit are taken, and not one more")
    func limit() throws {
        func members(_ count: Int) -> ByteBuffer {
            ByteBuffer(string: "{\((0..<count).map { "\"p\($0)\":1" }.joined(separator: ","))}")
        }
        #expect(try JSONParameters.parse(members(256)).texts.count == 256)
        #expect(throws: ServiceError.tooManyParameters) { try JSONParameters.parse(members(257)) }
    }

    @Test("Bytes that are not UTF-8 are malformed")
    func notUTF8() {
        let bytes = Array(#"{"a":"#.utf8) + [0x22, 0xFF, 0xC3, 0x22, 0x7D]
        #expect(throws: ServiceError.malformedJSON) { try JSONParameters.parse(ByteBuffer(bytes: bytes)) }
    }
}
