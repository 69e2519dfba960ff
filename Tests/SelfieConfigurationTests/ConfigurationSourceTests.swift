import Foundation
import ServerProcesses
import TestSupport
import Testing

@testable import SelfieConfiguration

@Suite("Where settings come from")
struct ConfigurationSourceTests {
    @Test("The environment wins over the file, what overrides wins over both, and odd names are told without values")
    func layers() async throws {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: ".env")
            try Data("PORT=1\nPUBLIC_URL=2\nDATABSE_URL=hunter2\nhunter2\n".utf8).write(to: file)
            let source = try ConfigurationSource(
                environmentFile: file.path,
                overrides: ["LOG_LEVEL": "o"],
                environment: ["PORT": "e", "LOG_LEVEL": "e", "S3_BUCKET": "hunter2"]
            )
            #expect(["PORT", "PUBLIC_URL", "LOG_LEVEL"].map(source.value) == ["e", "2", "o"])
            #expect(
                source.warnings == [
                    "\(file.path), line 4: it is no KEY=value, so the line is left out",
                    "DATABSE_URL is no setting. Is DATABASE_URL meant?",
                    "S3_BUCKET is no setting. Is S3_BUCKET_NAME meant?",
                ]
            )
        }
    }

    @Test("A file that is not UTF-8, or of more than 64 KiB, is refused, and none is as good as an empty one")
    func unreadable() async throws {
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: ".env")
            #expect(try ConfigurationSource(environmentFile: file.path, environment: [:]).value(of: "PORT") == nil)
            try Data([0x41, 0x3D, 0xFF]).write(to: file)
            #expect(throws: ConfigurationFileError.self) {
                try ConfigurationSource(environmentFile: file.path, environment: [:])
            }
            for (count, isTaken) in [(65_536, true), (65_537, false)] {
                try Data(repeating: UInt8(ascii: "#"), count: count).write(to: file)
                let source = try? ConfigurationSource(environmentFile: file.path, environment: [:])
                #expect((source != nil) == isTaken, "\(count)")
            }
        }
    }

    @Test("Every setting that the sources and the documentation name is known, and no other")
    func names() throws {
        let folder = ProjectFolder.root
        let page = try String(contentsOf: folder.appending(path: "docs/configuration.md"), encoding: .utf8)
        let documented = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            (line.split(separator: "|").first ?? "").matches(of: /`([A-Z0-9_]+)`/).map { String($0.1) }
        }
        // Heroku sets this one, and nobody else should.
        #expect(Set(documented).union(["DYNO"]) == SettingName.all)
        let settings = folder.appending(path: "Sources/SelfieConfiguration/Settings")
        for name in try FileManager.default.contentsOfDirectory(atPath: settings.path) {
            let code = try String(contentsOf: settings.appending(path: name), encoding: .utf8)
            for match in code.matches(of: /"([A-Z][A-Z0-9]+_[A-Z0-9_]+[A-Z0-9])"/) {
                let name = String(match.1)
                #expect(SettingName.all.contains(name), "\(name)")
            }
        }
    }
}
