import JSON
import Testing

@Suite("Elements of an array")
struct JSONElementsTests {
    private static func elements(_ pieces: [[UInt8]]) -> [String]? {
        var elements = JSONElements(maxCount: 3)
        for piece in pieces { elements.push(piece.span) }
        return elements.elements(of: pieces.flatMap { $0 })?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "They are found, however the text is chunked, and other values have none",
        arguments: [
            ("[]", []), (" [ \n\t] ", []), ("[1]", ["1"]),
            (#"[{"a":[1,2]}, "x,]\"," ]"#, [#"{"a":[1,2]}"#, #" "x,]\"," "#]),
            (#"["\\",1]"#, [#""\\""#, "1"]), ("[,]", ["", ""]), ("[1],[2]", ["1],[2"]), ("[[[]", ["[["]),
            ("[1,2,3]", ["1", "2", "3"]), ("[1,2,3,4]", ["1", "2", "3", "4"]), ("{}", nil), ("[", nil), ("", nil),
            ("  ", nil), ("[1] x", nil), ("x[1]", nil), (#""[1]""#, nil),
        ] as [(String, [String]?)]
    )
    func splits(text: String, expected: [String]?) {
        let bytes = Array(text.utf8)
        #expect(Self.elements([bytes]) == expected)
        #expect(Self.elements(bytes.map { [$0] }) == expected)
        for offset in bytes.indices {
            #expect(Self.elements([Array(bytes[..<offset]), Array(bytes[offset...])]) == expected, "\(offset)")
        }
    }

    @Test("Of more than are wanted, at least one more is found")
    func tooMany() {
        let found = Self.elements([Array("[1,2,3,4,5,6,7,8]".utf8)])
        #expect((found?.count ?? 0) > 3)
    }

    @Test("A text has 32,768 values at most, and stored ones any number")
    func values() throws {
        func text(_ count: Int) -> [UInt8] {
            Array("[\(Array(repeating: "1", count: count - 1).joined(separator: ","))]".utf8)
        }
        _ = try JSONValue.parse(text(32_768))
        #expect(throws: JSONError.tooManyValues) { try JSONValue.parse(text(32_769)) }
        _ = try JSONValue.parse(stored: text(32_769))
    }
}
