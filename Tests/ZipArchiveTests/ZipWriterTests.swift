import Foundation
import ProcessTestSupport
import TestSupport
import Testing
import ZipArchive

@Suite("Archives", .timeLimit(.minutes(2)))
struct ZipWriterTests {
    /// A file that an archive is written to; bytes that are left out are zeros which take no room.
    private struct Archive {
        let handle: FileHandle
        var zip = ZipWriter()
        var directory = Data()

        init(_ url: URL) throws {
            try Data().write(to: url)
            handle = try FileHandle(forWritingTo: url)
        }

        mutating func add(_ name: ZipName, _ bytes: Data, modified: Int = 1_795_000_000) throws {
            let file = ZipFile(name: name, length: bytes.count, crc32: Self.crc32(bytes), modified: modified)
            let parts = try zip.add(file)
            try handle.write(contentsOf: Data(parts.header) + bytes)
            directory += parts.directoryEntry
        }

        /// Adds a file whose bytes nobody reads.
        mutating func addSparse(_ name: ZipName, length: Int) throws {
            let parts = try zip.add(ZipFile(name: name, length: length, crc32: 1, modified: 0))
            try handle.write(contentsOf: parts.header)
            try handle.seek(toOffset: try handle.offset() + UInt64(length))
            directory += parts.directoryEntry
        }

        func finish() throws {
            try handle.write(contentsOf: directory + zip.end)
            try handle.close()
        }

        static func crc32(_ bytes: Data) -> UInt32 {
            var sum = CRC32()
            bytes.withUnsafeBytes { sum.update($0) }
            return sum.value
        }
    }

    /// What another program finds in an archive, from its end and from its beginning.
    private struct Contents: Decodable {
        let count: Int
        let files: [[Field]]
        let times: [String: [Int]]

        enum Field: Decodable, Equatable {
            case text(String)
            case number(Int)
            case none

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .none
                } else if let number = try? container.decode(Int.self) {
                    self = .number(number)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }
    }

    private static func open(_ url: URL, isSparse: Bool = false) async throws -> Contents {
        let output = try await PythonScript.run("open_zip.py", input: url.path + (isSparse ? "\tsparse" : "") + "\n")
        return try JSONDecoder().decode(Contents.self, from: Data(output.utf8))
    }

    /// The SHA-256 of no bytes, and of `abc` (FIPS 180-4's example).
    private static let (empty, abc) = (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )

    private static func number(_ number: Int, _ rest: String = ".bin") throws -> ZipName {
        try ZipName(number, digitCount: 4, in: "photos", followedBy: rest)
    }

    @Test("Other programs find the same files from its end and from its beginning")
    func opens() async throws {
        try await TemporaryFolder.with { folder in
            let url = folder.appending(path: "a.zip")
            var archive = try Archive(url)
            try archive.add(try ZipName("a.txt"), Data("abc".utf8))
            try archive.add(try Self.number(1, "-Zoë 写真.jpg"), Data(), modified: 0)
            // The last second that MS-DOS knows, and one later.
            try archive.add(try Self.number(2), Data("abc".utf8), modified: 4_354_819_199)
            try archive.add(try Self.number(3), Data("abc".utf8), modified: 4_354_819_200)
            try archive.finish()
            let contents = try await Self.open(url)
            #expect(
                contents.files == [
                    [.text("a.txt"), .number(3), .text(Self.abc)],
                    [.text("photos/0001-Zoë 写真.jpg"), .number(0), .text(Self.empty)],
                    [.text("photos/0002.bin"), .number(3), .text(Self.abc)],
                    [.text("photos/0003.bin"), .number(3), .text(Self.abc)],
                ]
            )
            #expect(contents.times["a.txt"] == [2026, 11, 18, 11, 6, 40])
            #expect(contents.times["photos/0001-Zoë 写真.jpg"] == [1980, 1, 1, 0, 0, 0])
            #expect(contents.times["photos/0002.bin"] == [2107, 12, 31, 23, 59, 58])
            #expect(contents.times["photos/0003.bin"] == [2107, 12, 31, 23, 59, 58])
            try await Self.expectUnzipFindsNoError(in: url)
        }
    }

    @Test("One without files opens")
    func nothing() async throws {
        try await TemporaryFolder.with { folder in
            let url = folder.appending(path: "a.zip")
            try Archive(url).finish()
            #expect(try await Self.open(url).count == 0)
            #expect(try Data(contentsOf: url).count == 22)
        }
    }

    private static func expectUnzipFindsNoError(in url: URL) async throws {
        let unzip = URL(filePath: "/usr/bin/unzip")
        guard FileManager.default.isExecutableFile(atPath: unzip.path) else { return }
        let outcome = try await ProgramOutcome.run(
            unzip,
            ["-tq", url.path],
            directory: url.deletingLastPathComponent()
        )
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test("Zip64 is used from 4 GiB on, and not before", arguments: [0xFFFF_FFFE, 0xFFFF_FFFF, 5 << 30])
    func largeFile(length: Int) async throws {
        try await TemporaryFolder.with { folder in
            let url = folder.appending(path: "a.zip")
            var archive = try Archive(url)
            try archive.add(try ZipName("first"), Data("abc".utf8))
            try archive.addSparse(try Self.number(1), length: length)
            // Its header is beyond 4 GiB.
            try archive.add(try ZipName("last"), Data("abc".utf8))
            try archive.finish()
            let contents = try await Self.open(url, isSparse: true)
            #expect(contents.files[1] == [.text("photos/0001.bin"), .number(length), .none])
            #expect(contents.files[2] == [.text("last"), .number(3), .text(Self.abc)])
        }
        var zip = ZipWriter()
        let file = ZipFile(name: try Self.number(1), length: length, crc32: 1, modified: 0)
        let isLarge = length >= 0xFFFF_FFFF
        // 30 bytes, the name, the time; 4 and 16 bytes of Zip64.
        let parts = try zip.add(file)
        let (headerCount, entryCount) = isLarge ? (74, 90) : (54, 70)
        #expect(parts.header.count == headerCount && parts.directoryEntry.count == entryCount)
        let version: UInt8 = isLarge ? 45 : 10
        #expect(parts.header[4] == version)
        // The directory begins beyond 4 GiB.
        #expect(zip.end.count == 98)
    }

    @Test("Many files that are small together begin beyond 4 GiB")
    func largeOffset() throws {
        var zip = ZipWriter()
        // With its header of 54 bytes, it ends one byte before what 32 bits can't have.
        _ = try zip.add(ZipFile(name: try Self.number(1), length: 0xFFFF_FFFE - 54, crc32: 0, modified: 0))
        #expect(zip.end.count == 22)
        let last = try zip.add(ZipFile(name: try Self.number(2), length: 0, crc32: 0, modified: 0))
        #expect(last.directoryEntry.count == 70)
        #expect(zip.end.count == 98)
        let beyond = try zip.add(ZipFile(name: try Self.number(3), length: 0, crc32: 0, modified: 0))
        #expect(beyond.header.count == 54 && beyond.directoryEntry.count == 70 + 12)
        #expect(Array(beyond.directoryEntry.suffix(8)) == [0x34, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test("65,535 files need Zip64", .onDedicatedThreads, arguments: [65_534, 65_535])
    func manyFiles(count: Int) async throws {
        try await TemporaryFolder.with { folder in
            let url = folder.appending(path: "a.zip")
            var archive = try Archive(url)
            var headers = Data()
            for number in 1...count {
                let parts = try archive.zip.add(
                    ZipFile(name: try Self.number(number), length: 0, crc32: 0, modified: 0)
                )
                headers += parts.header
                archive.directory += parts.directoryEntry
            }
            try archive.handle.write(contentsOf: headers)
            let endCount = count < 65_535 ? 22 : 98
            #expect(archive.zip.end.count == endCount)
            try archive.finish()
            #expect(try await Self.open(url).count == count)
        }
    }

    @Test("No two names are the same to any system")
    func names() throws {
        var zip = ZipWriter()
        func add(_ name: ZipName) throws { _ = try zip.add(ZipFile(name: name, length: 0, crc32: 0, modified: 0)) }
        try add(try ZipName("README"))
        #expect(throws: ZipError.nameTaken) { try add(try ZipName("ReadMe")) }
        try add(try Self.number(2, "-é"))
        #expect(throws: ZipError.nameTaken) { try add(try Self.number(2, "-e\u{301}")) }
        #expect(throws: ZipError.nameTaken) { try add(try ZipName(2, digitCount: 1, in: "photos", followedBy: "-é")) }
        #expect(throws: ZipError.nameTaken) { try add(try Self.number(1, "-é")) }
        #expect(throws: ZipError.nameTaken) { try add(try ZipName("Photos")) }
        #expect(throws: ZipError.nameTaken) { try add(try ZipName(3, digitCount: 1, in: "readme", followedBy: "-a")) }
        try add(try Self.number(3, "-é"))
        let end = zip.end
        // A refusal changes nothing.
        #expect(throws: ZipError.nameTaken) { try add(try Self.number(3)) }
        #expect(zip.end == end)
    }

    @Test("An archive has a PiB, and a thousand files in no folder, at most")
    func limits() throws {
        var zip = ZipWriter()
        for number in 0..<1_000 {
            _ = try zip.add(ZipFile(name: try ZipName("\(number)"), length: 0, crc32: 0, modified: 0))
        }
        #expect(throws: ZipError.tooLarge) {
            try zip.add(ZipFile(name: try ZipName("a"), length: 0, crc32: 0, modified: 0))
        }
        #expect(throws: ZipError.tooLarge) {
            try zip.add(ZipFile(name: try Self.number(1), length: 0, crc32: 0, modified: 0))
        }
        var large = ZipWriter()
        for length in [-1, 1_125_899_906_842_624, .max] {
            #expect(throws: ZipError.tooLarge) {
                try large.add(ZipFile(name: try Self.number(1), length: length, crc32: 0, modified: 0))
            }
        }
        _ = try large.add(
            ZipFile(name: try Self.number(1), length: 1_125_899_906_842_624 - 74, crc32: 0, modified: 0)
        )
    }

    @Test("A CRC-32 of parts is that of the whole")
    func crc32() {
        // The check value of CRC-32/ISO-HDLC.
        let bytes = Array("123456789".utf8)
        var sum = CRC32()
        bytes[..<4].withUnsafeBytes { sum.update($0) }
        sum.update(UnsafeRawBufferPointer(start: nil, count: 0))
        bytes[4...].withUnsafeBytes { sum.update($0) }
        #expect(sum.value == 0xCBF4_3926)
    }
}
