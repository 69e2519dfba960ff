import Foundation
import ServerProcesses
import TestSupport
import Testing

@testable import SelfieConfiguration

@Suite("Where settings come from")
struct ConfigurationSourceTests {
    @Test("The environment takes precedence over the file, overrides over both; odd names are named without values")
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
                    "\(file.path), line 4 is ignored: it is not KEY=value",
                    "DATABSE_URL is not a setting. Did you mean DATABASE_URL?",
                    "S3_BUCKET is not a setting. Did you mean S3_BUCKET_NAME?",
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

    @Test("Every setting is in docs/configuration.md and in .env.example, and nothing else is")
    func documented() throws {
        let folder = ProjectFolder.root
        let page = try String(contentsOf: folder.appending(path: "docs/configuration.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            (line.split(separator: "|").first ?? "").matches(of: /`([A-Z0-9_]+)`/).map { String($0.1) }
        }
        #expect(Set(rows) == SettingsReader.keys)
        let example = try String(contentsOf: folder.appending(path: ".env.example"), encoding: .utf8)
        #expect(Set(example.matches(of: /(?m)^(?:# )?([A-Z0-9_]+)=/).map { String($0.1) }) == SettingsReader.keys)
    }

    @Test("Passwords, keys, tokens and URLs with them are secret, and nothing else is")
    func secrecy() {
        #expect(
            SettingsReader.secretKeys == [
                "API_AUTH_NAME", "API_AUTH_PASSWORD", "APNS_KEY", "FCM_SERVICE_ACCOUNT",
                "AWS_ACCESS_KEY_ID", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_SECRET_ACCESS_KEY",
                "AWS_SESSION_TOKEN", "DATABASE_URL", "DATABASE_URL_LISTEN", "DATABASE_URL_READ", "SECRET_KEY_BASE",
                "SMTP_URL",
            ]
        )
    }
}
