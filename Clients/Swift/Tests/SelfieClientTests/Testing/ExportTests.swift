import Foundation
import SelfieClient
import SelfieTesting
import Testing

@Suite("The export in memory")
struct ExportTests {
    /// A file of an archive, as its header says.
    private struct File: Equatable {
        let name: String
        let bytes: Data
        let crc32: Int
    }

    /// Reads an archive of stored files from front to back, up to its directory.
    private func files(of archive: Data) -> (files: [File], rest: Data) {
        var (files, rest): ([File], Data) = ([], archive)
        func number(_ offset: Int, _ count: Int) -> Int {
            Data(rest.dropFirst(offset).prefix(count)).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        while number(0, 4) == 0x0403_4B50 {
            let (length, nameLength, extraLength) = (number(18, 4), number(26, 2), number(28, 2))
            let start = 30 + nameLength + extraLength
            files.append(
                File(
                    name: String(decoding: rest.dropFirst(30).prefix(nameLength), as: UTF8.self),
                    bytes: Data(rest.dropFirst(start).prefix(length)),
                    crc32: number(14, 4)
                )
            )
            rest = Data(rest.dropFirst(start + length))
        }
        return (files, rest)
    }

    /// Bit by bit.
    private func crc32(_ bytes: Data) -> Int {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return Int(~crc)
    }

    private func json(_ file: File?) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: try #require(file?.bytes))
    }

    @Test("It has all that is the user's, and nothing of others, and its manifest fits")
    func contents() async throws {
        let service = try TestSchema.service()
        let ada = try await service.makeClient(signedInAs: "ada@example.com")
        let bob = try await service.makeClient(signedInAs: "bob@example.com")
        let bobID = try #require(try bob.userID)
        _ = try await ada.photos.upload(.data(TestPhoto.png), title: "Grüße: \"von\" hier!")
        let hidden = try await ada.photos.upload(.data(TestPhoto.jpeg("hidden")), title: "..", isListed: false)
        _ = try await bob.photos.upload(.data(TestPhoto.png), title: "Bob's")
        try await ada.records(News.self).create(News(title: "New"), id: "n")
        try await ada.records(House.self).create(House(address: "a", photo: hidden.id), id: "h")
        try await ada.inbox(of: bobID).create(Letter(text: "Hi"), id: "l")
        try await bob.records(News.self).create(News(title: "Bob's"), id: "b")
        try await ada.block(bobID)

        let archive = try await TestFolder.with { folder in
            let file = folder.appendingPathComponent("export.zip")
            try await ada.photos.export(to: file)
            return try Data(contentsOf: file)
        }
        let (files, directory) = files(of: archive)
        #expect(
            files.map(\.name) == [
                "account.json", "sessions.json", "audit.json", "records.json", "photos/0001-Grüße-von-hier.png",
                "photos/0002.jpg", "photos.json", "manifest.sha256",
            ]
        )
        #expect(files.allSatisfy { $0.crc32 == crc32($0.bytes) })
        let byName = Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0) })
        #expect(byName["photos/0002.jpg"]?.bytes == TestPhoto.jpeg("hidden"))
        let manifest = String(decoding: try #require(files.last?.bytes), as: UTF8.self)
        let lines = files.dropLast().map { file in
            SHA256.digest(of: file.bytes).map { String(format: "%02x", $0) }.joined() + "  \(file.name)\n"
        }
        #expect(manifest == lines.joined())
        // As many entries in the directory, and their beginning in the archive at its end.
        #expect(directory.count > 22 && directory.suffix(22).prefix(4) == Data([0x50, 0x4B, 5, 6]))
        #expect(directory[directory.count - 12] == 8)
        let start = directory.suffix(6).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(start == archive.count - directory.count)

        let account = try json(byName["account.json"])
        #expect(account["email"] == "ada@example.com" && account["blocks"] == [.string(bobID)])
        guard case .array(let records) = try json(byName["records.json"]),
            case .array(let photos) = try json(byName["photos.json"]),
            case .array(let sessions) = try json(byName["sessions.json"])
        else {
            Issue.record("A list is none.")
            return
        }
        #expect(records.map { $0["id"] } == ["h", "n"] && records.allSatisfy { $0["photos"] == nil })
        #expect(photos.map { $0["file"] } == ["photos/0001-Grüße-von-hier.png", "photos/0002.jpg"])
        #expect(photos.map { $0["listed"] } == [true, false] && photos.allSatisfy { $0["image_url"] == nil })
        #expect(sessions.count == 1 && sessions[0]["current"] == nil)
        #expect(try json(byName["audit.json"]) == [])
    }
}
