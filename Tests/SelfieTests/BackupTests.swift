import ConnectionTestSupport
import DatabaseTestSupport
import EmbeddedPostgres
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// The steps of `docs/operations.md`, "Backup and restore".
@Suite("Backup and restore", .timeLimit(.minutes(3)))
struct BackupTests {
    private static func run(_ program: String, _ arguments: [String], in folder: URL) async throws {
        let path = try #require(ProgramSearch.system.program(named: program), "\(program)")
        let outcome = try await ProgramOutcome.run(URL(filePath: path), arguments, directory: folder)
        #expect(outcome.status == 0, "\(program): \(outcome.errors)")
    }

    @Test("The database first and the objects after it: the dump's photos are restored, and others removed")
    func restore() async throws {
        try await TemporaryFolder.with { folder in
            let dump = folder.appending(path: "selfie.dump")
            let backup = folder.appending(path: "objects")
            var token = ""
            var kept: [String] = []
            try await ServedSelfie.run { served in
                let service = served.service
                guard case .disk(let objects) = service.objects else { throw NotInTime(what: "a folder") }
                token = try await service.makeToken()
                var randomIDs: [String] = []
                for title in ["a", "b", "c"] {
                    let answer = try await service.upload(token: token, title: title)
                    randomIDs.append(try #require(answer.json["random_id"] as? String))
                }
                try await Self.run(
                    "pg_dump",
                    ["--format=custom", "--file=\(dump.path)", service.databaseURL],
                    in: folder
                )
                // The service runs on meanwhile.
                #expect(try await service.delete(randomIDs[1], token: token).status == 200)
                #expect(try await service.upload(token: token, title: "d").status == 200)
                try await poll("the object is gone") { !service.objects.keys().contains(randomIDs[1]) }
                try FileManager.default.copyItem(at: objects, to: backup)
                kept = [randomIDs[0], randomIDs[2]]
            }

            try await TestCluster.withEmptyDatabase { databaseURL in
                try await Self.run("pg_restore", ["--no-owner", "--dbname=\(databaseURL)", dump.path], in: folder)
                var settings = TestService.settings(databaseURL: databaseURL, objects: .disk(backup))
                settings["RATE_LIMITS"] = "off"
                for arguments in [
                    ["migrate", "--migrations", ServedSelfie.migrationsPath],
                    ["photos", "reconcile", "--older-than", "0s"],
                ] {
                    let outcome = try await SelfieProcess.run(arguments, environment: settings)
                    #expect(outcome.status == 0, "\(arguments): \(outcome.output) \(outcome.errors)")
                }
                try await TestCluster.withClient(databaseURL) { postgres in
                    let served = try await ServedSelfie.start(
                        databaseURL: databaseURL,
                        objects: .disk(backup),
                        postgres: postgres
                    )
                    let list = try #require(try await served.service.list(token: token).jsonArray)
                    #expect(list.map { $0["random_id"] as? String } == kept)
                    for photo in list {
                        let url = try #require(photo["image_url"] as? String)
                        #expect(try await served.service.send("GET", url).body == TestImage.jpeg)
                    }
                    #expect(TestObjects.disk(backup).keys() == kept.sorted())
                }
            }
        }
    }
}
