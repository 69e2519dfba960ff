import Encodings
import Testing

@Suite("Combining marks in a row")
struct MarkRunsTests {
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

    @Test("Words of protocols are equal in any case of ASCII letters, and in no other way")
    func words() {
        #expect(ProtocolWord(" GZip\t".utf8) == "gzip" && ProtocolWord("".utf8) == "")
        #expect(ProtocolWord("\u{212A}".utf8) != "k" && ProtocolWord("e\u{0301}".utf8) != ProtocolWord("\u{E9}".utf8))
        #expect(ProtocolWord.list("text/html;q=0.9, */*") == ["text/html", "*/*"])
    }
}
