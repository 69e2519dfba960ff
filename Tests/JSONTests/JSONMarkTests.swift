import JSON
import OrderedCollections
import Testing

@Suite("Combining marks in JSON")
struct JSONMarkTests {
    private static func marks(_ count: Int) -> String {
        String(String.UnicodeScalarView(repeatElement("\u{0301}", count: count)))
    }

    @Test("JSON of a request refuses such names at any depth, and takes such values for others to judge")
    func request() throws {
        let long = String(repeating: "n", count: 256)
        for name in [Self.marks(31), long] {
            for text in [#"{"\#(name)":1}"#, #"[{"a":{"\#(name)":1}}]"#] {
                #expect(throws: JSONError.unfitName) { try JSONValue.parse(text.utf8) }
            }
        }
        #expect(throws: JSONError.unfitName) {
            try JSONValue.parse(#"{"\#(String(repeating: #"\u0301"#, count: 31))":1}"#.utf8)
        }
        for name in [Self.marks(30), String(repeating: "n", count: 255)] {
            _ = try JSONValue.parse(#"{"\#(name)":1}"#.utf8)
        }
        _ = try JSONValue.parse(#"["\#(Self.marks(31))"]"#.utf8)
    }

    @Test("Texts stored before are read, with an invisible mark after every thirty")
    func stored() throws {
        let text = #"{"\#(Self.marks(61))":"a\#(Self.marks(31))"}"#
        guard case .object(let members) = try JSONValue.parse(stored: text.utf8),
            let (name, value) = members.elements.first,
            case .string(let string) = value
        else {
            Issue.record("not an object")
            return
        }
        let safeName = [Self.marks(30), Self.marks(30), Self.marks(1)].joined(separator: "\u{034F}")
        #expect(Array(name.utf8) == Array(safeName.utf8))
        #expect(Array(string.utf8) == Array("a\(Self.marks(30))\u{034F}\(Self.marks(1))".utf8))
        let long = String(repeating: "n", count: 256)
        #expect(try JSONValue.parse(stored: #"{"\#(long)":1}"#.utf8) == .object([long: 1]))
    }
}
