import Foundation
import TestSupport
import Testing

@testable import Migrations

@Suite("The folder of migrations")
struct MigrationDirectoryTests {
    private static let contents = Data("-- migrate:up\n-- migrate:down\n".utf8)

    private func load(_ files: [String: Data]) async throws -> [Migration] {
        try await TemporaryFolder.with { folder in
            for (name, contents) in files { try contents.write(to: folder.appending(path: name)) }
            return try MigrationDirectory(path: folder.path).load()
        }
    }

    @Test("Files are read in the order of their versions, and what is not SQL is left alone")
    func order() async throws {
        let names = ["20260301000000_c.sql", "20140101000000_z.sql", "20260201000000_b.sql"]
        let others = ["README.md", "notes.txt", ".gitkeep", "20260101000000_old.sql.bak", "script.psql"]
        let files = Dictionary(uniqueKeysWithValues: (names + others).map { ($0, Self.contents) })
        #expect(try await load(files).map(\.name) == ["z", "b", "c"])
    }

    @Test("An empty folder has no migrations")
    func empty() async throws {
        #expect(try await load([:]).isEmpty)
    }

    @Test("Two files of one version are refused")
    func duplicate() async throws {
        await #expect {
            try await load(["20260101000000_a.sql": Self.contents, "20260101000000_b.sql": Self.contents])
        } throws: {
            guard case MigrationError.duplicateVersion("20260101000000") = $0 else { return false }
            return "\($0)".contains("20260101000000")
        }
    }

    @Test("A misnamed SQL file is refused, not skipped")
    func misnamed() async throws {
        await #expect {
            try await load(["20260101000000_a.sql": Self.contents, "later.sql": Self.contents])
        } throws: {
            guard case MigrationError.invalidFileName("later.sql") = $0 else { return false }
            return true
        }
    }

    @Test("A file that is not UTF-8 is refused by name")
    func unreadableFile() async throws {
        await #expect {
            try await load(["20260101000000_a.sql": Data([0xFF, 0xFE, 0x00])])
        } throws: {
            guard case MigrationError.unreadableFile(let path) = $0 else { return false }
            return path.hasSuffix("/20260101000000_a.sql")
        }
    }

    @Test("A folder that does not exist is named")
    func unreadableFolder() {
        #expect {
            try MigrationDirectory(path: "/no/such/folder").load()
        } throws: {
            guard case MigrationError.unreadableDirectory("/no/such/folder") = $0 else { return false }
            return "\($0)" == "There is no readable folder of migrations at /no/such/folder."
        }
    }

    @Test(
        "A new migration is named by the time in UTC and the words, and can be loaded",
        arguments: [
            ("add_phone_to_users", "add_phone_to_users"), ("Add phone, to users!", "add_phone_to_users"), ("v2", "v2"),
            ("  spaced  out  ", "spaced_out"), ("../../etc/passwd", "etc_passwd"),
        ]
    )
    func create(name: String, fileName: String) async throws {
        try await TemporaryFolder.with { folder in
            let directory = MigrationDirectory(path: folder.path)
            let path = try directory.create(name: name, date: Date(timeIntervalSince1970: 1_795_248_363))
            #expect(path == "\(folder.path)/20261121080603_\(fileName).sql")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "-- migrate:up\n\n-- migrate:down\n\n")
            #expect(try directory.load().map(\.version) == ["20261121080603"])
        }
    }

    @Test("A name without a letter or digit is refused, and makes no file", arguments: ["", "___", "é", "!"])
    func invalidName(_ name: String) async throws {
        try await TemporaryFolder.with { folder async throws in
            let error = #expect(throws: MigrationError.self) {
                try MigrationDirectory(path: folder.path).create(name: name, date: Date())
            }
            guard case .invalidName(name) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("A file that is there already is never written over")
    func existing() async throws {
        try await TemporaryFolder.with { folder in
            let directory = MigrationDirectory(path: folder.path)
            let date = Date(timeIntervalSince1970: 1_795_248_363)
            let path = try directory.create(name: "a", date: date)
            try Data("precious".utf8).write(to: URL(filePath: path))
            let error = #expect(throws: MigrationError.self) { try directory.create(name: "a", date: date) }
            guard case .cannotWrite(path) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        }
    }
}
