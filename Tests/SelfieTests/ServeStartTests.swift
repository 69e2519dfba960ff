import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie serve, when it starts", .timeLimit(.minutes(2)))
struct ServeStartTests {
    private func serve(databaseURL: String, port: Int) async throws -> ProgramOutcome {
        try await TemporaryFolder.with { folder in
            let objects = TestObjects.disk(folder.appending(path: "objects"))
            return try await SelfieProcess.run(
                ["serve", "--hostname", "127.0.0.1", "--port", "\(port)", "--migrations", ServedSelfie.migrationsPath],
                environment: TestService.settings(databaseURL: databaseURL, objects: objects),
                directory: folder
            )
        }
    }

    @Test("A port that is in use ends it with a message that says what to do")
    func usedPort() async throws {
        try await TestCluster.withDatabase { databaseURL in
            let other = try SilentServer()
            let outcome = try await serve(databaseURL: databaseURL, port: other.port)
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("Port \(other.port) of 127.0.0.1 is in use."))
            #expect(outcome.errors.contains("--port"))
            #expect(!outcome.output.contains("a sweep failed"), "it only received SIGTERM")
        }
    }

    @Test("selfie probe distinguishes a service that is not ready from one that is not alive")
    func probe() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.disk) { objects in
                guard case .disk(let folder) = objects else { return }
                try await TestCluster.withClient(databaseURL) { postgres in
                    let port = "\(ServerProcess.anyPort())"
                    let settings = TestService.settings(databaseURL: databaseURL, objects: objects)
                    let process = try SelfieProcess(
                        ["serve", "--port", port, "--migrations", ServedSelfie.migrationsPath],
                        environment: settings.merging(["LOG_FORMAT": "json", "LOG_LEVEL": "warn"]) { $1 }
                    )
                    try await poll("it is ready") {
                        try await SelfieProcess.run(["probe", "--port", port]).status == 0
                    }
                    try await postgres.write("DELETE FROM schema_migrations")
                    try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("gone"))
                    try await poll("it is not ready") {
                        let ready = try await SelfieProcess.run(["probe", "--port", port])
                        return ready.status == 1 && ready.output.contains(#""check":"migrations","ready":false"#)
                    }
                    let alive = try await SelfieProcess.run(["probe", "--port", port, "--path", "/livez"])
                    #expect(alive.status == 0)
                    // Nothing of less than a warning, and all of it JSON.
                    let lines = process.output.split(separator: "\n")
                    #expect(!lines.isEmpty)
                    for line in lines {
                        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                        let level = try #require(json?["level"] as? String)
                        #expect(["warning", "error"].contains(level), "\(line)")
                    }
                }
            }
        }
    }

    @Test("A database that lacks migrations ends it with what to run, and is left as it is")
    func pendingMigrations() async throws {
        try await TestCluster.withEmptyDatabase { databaseURL in
            let outcome = try await serve(databaseURL: databaseURL, port: 0)
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("The database lacks \(try TestCluster.migrations().count) migrations."))
            #expect(outcome.errors.contains("selfie migrate"))
            let tables = try await TestCluster.withClient(databaseURL) { client in
                try await client.read("SELECT tablename FROM pg_tables WHERE tablename IN ('users', 'photos')").count
            }
            #expect(tables == 0)
        }
    }

    @Test("With the database down it starts all the same, and answers 503 until it is back")
    func databaseDown() async throws {
        let address = "postgresql://nobody@127.0.0.1:1/none"
        try await TemporaryFolder.with { folder in
            let objects = TestObjects.disk(folder.appending(path: "objects"))
            try await TestCluster.withClient(address) { postgres in
                let served = try await ServedSelfie.start(
                    databaseURL: address,
                    objects: objects,
                    directory: folder,
                    postgres: postgres
                )
                let answer = try await served.service.list(token: "any")
                #expect(answer.status == 503)
                #expect(answer.json["status"] as? Int == 503)
                #expect(answer.message?.isEmpty == false)
                #expect(try await served.service.send("GET", "/").status == 200)
                #expect(!served.process.output.contains("nobody"))
                served.process.signal(SIGTERM)
                #expect(try await served.process.waitForExit() == 0)
            }
        }
    }

    @Test(
        "A database that comes later is looked at then: what lacks migrations ends it, another is served",
        arguments: [true, false]
    )
    func databaseLater(isMigrated: Bool) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                let name = "late_\(UUID().uuidString.prefix(8).lowercased())"
                var address = try #require(URLComponents(string: databaseURL))
                address.path = "/\(name)"
                let lateURL = try #require(address.string)
                try await TemporaryFolder.with { folder in
                    let served = try await ServedSelfie.start(
                        databaseURL: lateURL,
                        objects: .disk(folder.appending(path: "objects")),
                        directory: folder,
                        postgres: postgres
                    )
                    try await poll("the log has the reason") { served.process.output.contains("does not exist") }
                    #expect(try await served.service.list(token: "any").status == 503)
                    let template = isMigrated ? "selfie_template" : "template1"
                    let creation = PostgresQuery(stringLiteral: "CREATE DATABASE \(name) TEMPLATE \(template)")
                    // Of a template that another test copies right now, no copy can be made.
                    try await poll("the database is made") { (try? await postgres.write(creation)) != nil }
                    if isMigrated {
                        try await poll("it serves") { try await served.service.list(token: "any").status == 401 }
                        served.process.signal(SIGTERM)
                        #expect(try await served.process.waitForExit() == 0)
                    } else {
                        #expect(try await served.process.waitForExit() != 0)
                        #expect(served.process.output.contains("selfie migrate"))
                    }
                    try await postgres.write(PostgresQuery(stringLiteral: "DROP DATABASE \(name) WITH (FORCE)"))
                }
            }
        }
    }

    @Test("A folder of migrations that is not there ends it with a message")
    func noMigrations() async throws {
        try await TemporaryFolder.with { folder in
            let outcome = try await SelfieProcess.run(
                ["serve"],
                environment: TestService.settings(
                    databaseURL: "postgresql://nobody@127.0.0.1:1/none",
                    objects: .disk(folder.appending(path: "objects"))
                ),
                directory: folder
            )
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("There is no readable folder of migrations at migrations."))
        }
    }

    @Test(
        "A folder that can't be made or used ends every command with its name and the reason, in plain words",
        arguments: [["serve", "--port", "0"], ["photos", "reconcile"], ["photos", "copy", "--to", "disk"]]
    )
    func unusableFolder(arguments: [String]) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                let file = folder.appending(path: "file")
                try Data().write(to: file)
                try folder.copyMigrations()
                let bucket = ["S3_BUCKET_NAME": "selfies", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"]
                let outcome = try await SelfieProcess.run(
                    arguments,
                    environment: TestService.settings(databaseURL: databaseURL, objects: .disk(file))
                        .merging(bucket) { $1 },
                    directory: folder
                )
                #expect(outcome.status != 0)
                #expect(outcome.errors.contains("OBJECTS_PATH"), "\(outcome.errors)")
                #expect(outcome.errors.contains("Not a directory"), "\(outcome.errors)")
                #expect(!outcome.errors.contains("Domain"), "\(outcome.errors)")
            }
        }
    }

    @Test(
        "Without keys for the bucket it ends with a message that names them and says what was asked",
        arguments: [
            (
                [
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/",
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN": "sesame",
                ],
                "the container's credentials endpoint gave no credentials: it can't be reached"
            ),
            (
                ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"],
                "the EC2 metadata service gave no credentials: it can't be reached"
            ),
            (["AWS_EC2_METADATA_DISABLED": "true"], "AWS_SECRET_ACCESS_KEY is missing"),
        ]
    )
    func noCredentials(settings: [String: String], text: String) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TemporaryFolder.with { folder in
                var environment = TestService.settings(databaseURL: databaseURL, objects: .disk(folder))
                environment["OBJECTS_PATH"] = nil
                environment["S3_BUCKET_NAME"] = "selfies"
                let outcome = try await SelfieProcess.run(
                    ["serve", "--port", "0", "--migrations", ServedSelfie.migrationsPath],
                    environment: environment.merging(settings) { $1 },
                    directory: folder
                )
                #expect(outcome.status != 0)
                #expect(outcome.errors.contains(text), "\(outcome.errors)")
                for key in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] { #expect(outcome.errors.contains(key)) }
                #expect(!(outcome.errors + outcome.output).contains("sesame"))
                #expect(!outcome.output.contains("listening on"))
            }
        }
    }
}
