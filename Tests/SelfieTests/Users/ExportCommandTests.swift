import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie users export", .timeLimit(.minutes(3)))
struct ExportCommandTests {
    private static func export(_ served: ServedSelfie, _ arguments: [String]) async throws -> ProgramOutcome {
        let service = served.service
        return try await SelfieProcess.run(
            ["users", "export"] + arguments,
            environment: TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
        )
    }

    @Test("It writes the same archive as the API, for its user alone", arguments: TestStore.allCases)
    func writes(store: TestStore) async throws {
        try await ServedSelfie.run(store: store) { served in
            let token = try await served.service.makeToken()
            for title in ["First", "Second"] {
                #expect(try await served.service.upload(token: token, title: title).status == 200)
            }
            let missing = try await served.service.upload(token: token, title: "Third").json["random_id"] as? String
            try await served.service.objects.remove(key: try #require(missing))
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "ada.zip")
                let outcome = try await Self.export(served, ["ada@example.com", "--to", file.path])
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.output == "\(file.path) has 2 photos.\n")
                #expect(
                    outcome.errors == "1 photo could not be read. The file manifest.sha256 in it names them.\n"
                )
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                #expect(try folder.names() == ["ada.zip"])
                try await UnpackedExport.with(fileAt: file) { export in
                    #expect(export.photoNames == ["photos/0001-First.jpg", "photos/0002-Second.jpg"])
                    let (manifest, events) = (try export.manifest, try export.list("audit.json"))
                    #expect(manifest.contains("# missing: \(missing ?? "-") (the store does not have it)"))
                    #expect(events.last?["event"] as? String == "export")
                }
                // The command line has no address.
                let events = try await served.service.postgres.read(
                    "SELECT address FROM audit_events WHERE event = 'export'"
                )
                #expect(events.count == 1)
                #expect(try events[0].decodeIfPresent("address", as: String.self) == nil)
            }
        }
    }

    @Test("It never replaces a file, and leaves none behind when it fails")
    func fails() async throws {
        try await ServedSelfie.run { served in
            let token = try await served.service.makeToken()
            #expect(try await served.service.upload(token: token).status == 200)
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "ada.zip")
                let unknown = try await Self.export(served, ["bob@example.com", "--to", file.path])
                #expect(unknown.status != 0 && unknown.errors.contains("There is no user"))
                for name in ["-", ""] {
                    let outcome = try await Self.export(served, ["ada@example.com", "--to", name])
                    #expect(outcome.status != 0 && outcome.errors.contains("--to must be the name of a file."))
                }
                let nowhere = folder.appending(path: "none/ada.zip").path
                let unwritable = try await Self.export(served, ["ada@example.com", "--to", nowhere])
                #expect(unwritable.status != 0 && unwritable.errors.contains("can't be written"))
                #expect(try folder.names().isEmpty)

                try Data("mine".utf8).write(to: file)
                let exists = try await Self.export(served, ["ada@example.com", "--to", file.path])
                #expect(exists.status != 0 && exists.errors.contains("There is a file \(file.path) already."))
                // A link to nothing is one, too.
                let link = folder.appending(path: "link.zip")
                try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "nothing")
                let linked = try await Self.export(served, ["ada@example.com", "--to", link.path])
                #expect(linked.status != 0 && linked.errors.contains("There is a file \(link.path) already."))
                #expect(try folder.names() == ["ada.zip", "link.zip"])
                #expect(try Data(contentsOf: file) == Data("mine".utf8))
                #expect(try await served.service.count("SELECT count(*) FROM audit_events WHERE event = 'export'") == 1)
            }
        }
    }
}
