import ImageFiles
import TestSupport
import Testing
import ZipArchive

@testable import SelfieCore

@Suite("Names of exported photos")
struct PhotoFileNameTests {
    @Test("They have as many digits as the last one, and four at least", arguments: [1, 9_999, 10_000, 1_000_000])
    func digits(count: Int) throws {
        let first = try PhotoFileName.name(1, of: count, title: "A title", format: .heic).text
        let digits = max(4, String(count).count)
        #expect(first == "photos/\(String(repeating: "0", count: digits - 1))1-A-title.heic")
        let last = try PhotoFileName.name(count, of: count, title: "", format: nil).text
        #expect(last.utf8.count == "photos/".utf8.count + digits + ".bin".utf8.count)
    }

    @Test("Every title makes a name, whatever it has", .onDedicatedThreads)
    func all() throws {
        // All of the first, which have the marks and the spaces, and some of each other script.
        for value in Array(0..<0x2100) + stride(from: 0x2100, to: 0x11_0000, by: 61) {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            for title in ["\(scalar)", "a\(scalar)", "\(scalar)a\(scalar)", String(repeating: "\(scalar)", count: 255)]
            {
                let name = try PhotoFileName.name(1, of: 1, title: title, format: .jpeg).text
                #expect(name.utf8.count <= 200)
            }
        }
    }
}
