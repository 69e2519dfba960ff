import Testing
import ZipArchive

@Suite("Names in archives")
struct ZipNameTests {
    @Test(
        "A name that some system can't use is refused",
        arguments: [
            "", ".", "..", "a/b", "/a", "../a", "a\\b", "c:a", "é", "e\u{301}", "a b", "a\0", "a\n", "a.", "con",
            "CON.txt", "nul", "LPT1", "com9.tar.gz", "a*", "\u{202E}a", "😀",
        ]
    )
    func plain(text: String) {
        #expect(throws: ZipError.invalidName) { try ZipName(text) }
    }

    @Test(
        "What follows a number may have any letters, but nothing that means something to a system",
        arguments: [
            "/a", "\\a", "-a/../../b", ":a", "-a\u{0}", "-a\u{7}", "-a\n", "-a.", "-a ", "-\u{202E}gpj.exe",
            "-\u{200B}",
            "0a", "9", "-a?", "-a|b", "-<a>", "-\"a\"", "-\u{E000}", "-\u{FEFF}",
        ]
    )
    func numbered(rest: String) {
        #expect(throws: ZipError.invalidName) { try ZipName(1, digitCount: 4, in: "photos", followedBy: rest) }
    }

    @Test("Others are taken as they are")
    func valid() throws {
        #expect(try ZipName("manifest.sha256").text == "manifest.sha256")
        #expect(try ZipName("console.txt").text == "console.txt")
        let name = try ZipName(7, digitCount: 4, in: "photos", followedBy: "-Zoë 😀 Ж 写真.jpg")
        #expect(name.text == "photos/0007-Zoë 😀 Ж 写真.jpg")
        #expect(try ZipName(12_345, digitCount: 4, in: "a", followedBy: ".bin").text == "a/12345.bin")
        #expect(try ZipName(3, digitCount: 1, in: "a", followedBy: "").text == "a/3")
        #expect(try ZipName(1, digitCount: 4, in: "a", followedBy: "-CON.jpg").text == "a/0001-CON.jpg")
        for number in [0, -1] {
            #expect(throws: ZipError.invalidName) { try ZipName(number, digitCount: 4, in: "a", followedBy: "-x") }
        }
        for folder in ["", "..", "a/b", "é", "aux"] {
            #expect(throws: ZipError.invalidName) { try ZipName(1, digitCount: 4, in: folder, followedBy: "-x") }
        }
    }

    @Test("It has 255 bytes at most")
    func length() throws {
        #expect(try ZipName(String(repeating: "a", count: 255)).text.utf8.count == 255)
        #expect(throws: ZipError.invalidName) { try ZipName(String(repeating: "a", count: 256)) }
        let rest = "-" + String(repeating: "é", count: 125)
        #expect(try ZipName(1, digitCount: 4, in: "photos", followedBy: rest).text.utf8.count == 262)
        #expect(throws: ZipError.invalidName) { try ZipName(1, digitCount: 5, in: "photos", followedBy: rest) }
    }
}
