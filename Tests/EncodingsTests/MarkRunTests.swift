import Encodings
import OrderedCollections
import Testing

@Suite("Combining marks in a row")
struct MarkRunTests {
    private static func marks(_ count: Int, _ mark: Unicode.Scalar = "\u{0301}") -> String {
        String(String.UnicodeScalarView(repeatElement(mark, count: count)))
    }

    @Test(
        "Thirty are taken wherever they stand, and one more is not",
        arguments: ["\u{0301}", "\u{0345}", "\u{05B0}", "\u{0F73}", "\u{0F75}", "\u{0F81}", "\u{20D0}", "\u{1D165}"]
            as [Unicode.Scalar]
    )
    func limit(mark: Unicode.Scalar) {
        for (before, after) in [("", ""), ("a", ""), ("", "b"), ("ä", "\u{1F600}")] {
            #expect(!"\(before)\(Self.marks(30, mark))\(after)".hasLongMarkRun)
            #expect("\(before)\(Self.marks(31, mark))\(after)".hasLongMarkRun)
        }
        #expect(!"a\(Self.marks(30, mark))b\(Self.marks(30, mark))".hasLongMarkRun)
    }

    @Test("Each scalar that Swift sorts counts")
    func classes() {
        for value in 0...UInt32(0x10FFFF) {
            guard let scalar = Unicode.Scalar(value), scalar.properties.canonicalCombiningClass != .notReordered else {
                continue
            }
            #expect(Self.marks(31, scalar).hasLongMarkRun, "U+\(String(value, radix: 16))")
        }
    }

    @Test("A name has 255 bytes and 30 marks in a row at most")
    func names() {
        #expect(String(repeating: "n", count: 255).isFitName && !String(repeating: "n", count: 256).isFitName)
        #expect(Self.marks(30).isFitName && !Self.marks(31).isFitName)
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

    @Test("What was stored before is read, with a mark that nobody sees after every thirty")
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

    @Test("Words of protocols are equal in any case of ASCII letters, and in no other way")
    func words() {
        #expect(ProtocolWord(" GZip\t".utf8) == "gzip" && ProtocolWord("".utf8) == "")
        #expect(ProtocolWord("\u{212A}".utf8) != "k" && ProtocolWord("e\u{0301}".utf8) != ProtocolWord("\u{E9}".utf8))
        #expect(ProtocolWord.list("text/html;q=0.9, */*") == ["text/html", "*/*"])
    }
}
