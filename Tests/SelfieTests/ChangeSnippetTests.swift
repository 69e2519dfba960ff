import ConnectionTestSupport
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The page about changes", .timeLimit(.minutes(3)))
struct ChangeSnippetTests {
    private static let folder = ProjectFolder.root.appending(path: "docs/changes")

    @Test("It has the code of all files, to the letter")
    func files() throws {
        let page = try String(contentsOf: ProjectFolder.root.appending(path: "docs/changes.md"), encoding: .utf8)
        let names = try Self.folder.names()
        #expect(names == ["FollowChanges.swift", "follow-changes.js", "follow-changes.sh"])
        for name in names {
            let code = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            #expect(page.contains("\n\(code)```\n"), "\(name)")
        }
    }

    @Test("JavaScript's code begins again where it must, and gets changes, in a browser of another origin")
    func javaScript() async throws {
        let port = ServerProcess.anyPort()
        try await TestService.runWithSchema(
            settings: ["RATE_LIMITS": "off", "CORS_ORIGINS": "http://127.0.0.1:\(port)"]
        ) { service in
            let ada = try await service.addMember("ada")
            try await service.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            async let output = PythonScript.run(
                "browser/follow_changes.py",
                input: #"{"origin": "\#(service.origin)", "port": \#(port), "token": "\#(ada.token)", "count": 5}"#
            )
            // A stream is noted when it ends: that of whoever failed to take a change, and that of the other database.
            try await poll("the browser begins again") {
                service.log.entries.count { $0.contains("endpoint=/api/changes") } >= 2
            }
            try await service.put("houses/h2", as: ada, #"{"data":{"address":"line\#u{2028}line"}}"#)
            let printed = try JSONSerialization.jsonObject(with: Data(try await output.utf8)) as? [[Any]] ?? []
            #expect(printed.map { $0.first as? String } == ["full", "reset", "created", "cursor", "created"])
            #expect(printed.filter { $0.count == 4 }.map { $0[2] as? String } == ["h1", "h2"])
            #expect(printed.filter { $0.count > 1 }.allSatisfy { $0.last as? Bool == true })
        }
    }

    @Test("The shell's code prints changes, stores the cursor in a file, and resumes from it")
    func shell() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let folder = FileManager.default.temporaryDirectory.appending(path: "follow-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let cursor = folder.appending(path: "cursor")
            for round in 1...2 {
                try await service.put("houses/h\(round)", as: ada, #"{"data":{"address":"a"}}"#)
                let output = folder.appending(path: "output\(round)")
                try Data().write(to: output)
                let process = Process()
                process.executableURL = URL(filePath: "/bin/sh")
                process.arguments = [
                    Self.folder.appending(path: "follow-changes.sh").path, service.origin, cursor.path,
                ]
                process.environment = ChildEnvironment.with(["TOKEN": ada.token])
                process.standardOutput = try FileHandle(forWritingTo: output)
                try process.run()
                try await poll("the change is printed") {
                    try String(contentsOf: output, encoding: .utf8).contains(#""id":"h\#(round)""#)
                }
                try await poll("the cursor is kept") {
                    let text = try String(contentsOf: cursor, encoding: .utf8)
                    let answer = try await service.changes("?since=\(text)", as: ada)
                    return answer.status == 200 && answer.summaries.isEmpty
                }
                // With all that it has started.
                kill(-process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                // Only new changes were printed.
                #expect(try String(contentsOf: output, encoding: .utf8).split(separator: "\n").count == 1)
            }
        }
    }

    @Test("With an invalid token, the shell's code says so and ends")
    func wrongToken() async throws {
        try await TestService.runWithSchema { service in
            try await TemporaryFolder.with { folder in
                let outcome = try await ProgramOutcome.run(
                    URL(filePath: "/bin/sh"),
                    [
                        Self.folder.appending(path: "follow-changes.sh").path, service.origin,
                        folder.appending(path: "cursor").path,
                    ],
                    environment: ["TOKEN": "wrong"],
                    directory: folder
                )
                #expect(outcome.status == 1 && outcome.output.isEmpty)
                #expect(outcome.errors.contains("status: 401") && outcome.errors.contains("sign in again"))
            }
        }
    }
}
