import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie dev", .timeLimit(.minutes(5)))
struct DevTests {
    @Test("From an empty folder to a photo by the printed lines, which is there after every kind of restart")
    func firstPhoto() async throws {
        try await DevelopmentFolder.with { folder in
            let (process, _) = try await folder.startDevAndWait()
            try checkEnvironmentFile(folder)
            let photo = try await pasteBlock(from: process, in: folder)
            #expect(try await fetch(photo) == TestImage.jpeg)
            try await stop(process, in: folder, by: SIGINT)

            let (second, port) = try await folder.startDevAndWait()
            #expect(!second.output.contains("Wrote .env"))
            #expect(try await fetch(photo, port: port) == TestImage.jpeg)
            second.signal(SIGKILL)
            #expect(try await second.waitForExit() == 128 + SIGKILL)
            #expect(!folder.serverIDs().isEmpty)
            // The file that it has left behind counts no more.
            let orphaned = try await SelfieProcess.run(["users", "list"], directory: folder.url)
            #expect(orphaned.errors.contains("bin/dev is not running here"), "\(orphaned.errors)")

            let (third, thirdPort) = try await folder.startDevAndWait()
            #expect(try await fetch(photo, port: thirdPort) == TestImage.jpeg)
            third.signal(SIGKILL)
            for processID in folder.serverIDs() { kill(processID, SIGKILL) }
            try await poll("all processes are gone") { folder.processIDs().isEmpty }

            let (last, lastPort) = try await folder.startDevAndWait()
            #expect(try await fetch(photo, port: lastPort) == TestImage.jpeg)
            try await stop(last, in: folder, by: SIGTERM)
        }
    }

    @Test("An existing .env is used; a second process in the same folder says so and ends, the first continues")
    func existingEnvironmentFile() async throws {
        try await DevelopmentFolder.withCluster { folder in
            let values = [
                "API_AUTH_NAME": "mine", "API_AUTH_PASSWORD": "my own", "PORT": "0",
                "SECRET_KEY_BASE": String(repeating: "s", count: 64), "PASSWORD_HASH_COST": "10",
                "LOG_FORMAT": "json",
            ]
            try folder.url.writeEnvironment(values)
            let before = try Data(contentsOf: folder.url.appending(path: ".env"))
            let process = try SelfieProcess(["dev"], directory: folder.url)
            let port = try await process.waitForOutput(DevelopmentFolder.address)
            _ = try await process.waitForOutput(#"\{.*"(msg)":"serving""#)
            #expect(try Data(contentsOf: folder.url.appending(path: ".env")) == before)

            let second = try folder.startDev()
            #expect(try await second.waitForExit() == 1)
            #expect(second.output.contains("is in use by another process"))

            let answer = try await folder.paste("curl -s -u 'mine:my own' -X POST http://127.0.0.1:\(port)/api/signin")
            #expect(
                answer == [
                    #"{"status":400,"message":"required parameters are missing","code":"parameters_missing","parameters":["email","password"]}"#
                ]
            )
            try await stop(process, in: folder, by: SIGTERM)
        }
    }

    @Test(
        "A schema that shows records to more people is not applied; the service keeps the old one and says how"
    )
    func widerSchema() async throws {
        try await DevelopmentFolder.withCluster { folder in
            let file = folder.url.appending(path: "schema.json")
            func write(_ access: String) throws {
                try Data(#"{"collections":{"notes":{"access":"\#(access)"}}}"#.utf8).write(to: file)
            }
            func show() async throws -> String {
                try await SelfieProcess.run(["schema", "show"], directory: folder.url).output
            }
            try write("private")
            let first = try folder.startDev()
            let url = try await first.waitForOutput("psql '([^']+)'")
            try await PostgresClient.withClient(configuration: try PostgresConfiguration(url: url)) { postgres in
                _ = try await postgres.write(
                    """
                    WITH added AS (
                        INSERT INTO users (first_name, last_name, email, password_hash)
                        VALUES ('A', 'B', 'a@example.com', 'none') RETURNING id
                    )
                    INSERT INTO records (collection_id, owner_id, id, data, byte_count)
                    SELECT collections.id, added.id, 'n', '{}', 2 FROM collections, added
                    """
                )
            }
            try await stop(first, in: folder, by: SIGTERM)

            try write("published")
            let (second, _) = try await folder.startDevAndWait()
            #expect(second.output.contains("schema.json is not applied"), "\(second.output)")
            #expect(second.output.contains("(1 record to 1 more person)"))
            #expect(second.output.contains("selfie schema apply --force schema.json"))
            #expect(try await show().contains("private"))
            let forced = try await SelfieProcess.run(
                ["schema", "apply", "--force", "schema.json"],
                directory: folder.url
            )
            #expect(forced.status == 0, "\(forced)")
            #expect(try await show().contains("published"))
            try await stop(second, in: folder, by: SIGTERM)
        }
    }

    @Test("A signal during the start stops everything, and the next start works; so does a port that is taken")
    func brokenOffStart() async throws {
        try await DevelopmentFolder.withCluster { folder in
            // A start that is over before the signal comes would prove nothing: each has a step that waits for a file.
            for (number, signal) in [SIGTERM, SIGINT].enumerated() {
                let pause = """
                    -- migrate:up
                    DO $$ BEGIN
                        WHILE pg_stat_file('go\(number)', true) IS NULL LOOP PERFORM pg_sleep(0.01); END LOOP;
                    END $$;
                    -- migrate:down

                    """
                let file = folder.url.appending(path: "migrations/2013010100000\(number)_pause.sql")
                try Data(pause.utf8).write(to: file)
                let process = try folder.startDev()
                _ = try await process.waitForOutput("(Starting PostgreSQL)")
                process.signal(signal)
                _ = try await process.waitForOutput("(Stopping …)")
                let data = folder.url.appending(path: ".selfie/postgres/data")
                try Data("go".utf8).write(to: data.appending(path: "go\(number)"))
                #expect(try await process.waitForExit() == 0)
                #expect(process.output.contains("Applied 2013010100000\(number)_pause.sql"))
                #expect(!process.output.contains("Selfie is at"))
                try await poll("all processes are gone") { folder.processIDs().isEmpty }
            }

            let other = try SilentServer()
            let refused = try folder.startDev(port: other.port)
            #expect(try await refused.waitForExit() == 1)
            #expect(refused.output.contains("Port \(other.port) of 127.0.0.1 is in use."))
            try await poll("all processes are gone") { folder.processIDs().isEmpty }

            let (process, _) = try await folder.startDevAndWait()
            try await stop(process, in: folder, by: SIGTERM)
        }
    }

    @Test("Commands in the same folder find its data while it runs; closing the terminal stops everything")
    func commandsBeside() async throws {
        try await DevelopmentFolder.withCluster { folder in
            let (process, port) = try await folder.startDevAndWait()
            // The development server does not use it, so the commands beside must not.
            let file = folder.url.appending(path: ".env")
            let settings = try String(contentsOf: file, encoding: .utf8)
            try Data("\(settings)\nDATABASE_URL=postgresql://nobody@127.0.0.1:1/none\n".utf8).write(to: file)
            let probe = try await SelfieProcess.run(["probe", "--port", "\(port)"], directory: folder.url)
            #expect(probe.status == 0 && probe.output.contains("\"check\":\"store\",\"ready\":true"))
            let hint = "Using the database and the photos of selfie dev in this folder.\n"
            for (arguments, text) in [
                (["users", "list"], "ID  E-MAIL"), (["migrate", "status"], "applied  20140826080603"),
                (
                    ["photos", "reconcile", "--dry-run"],
                    "Compared 0 photos with 0 objects: the database selfie at \(folder.url.path)/.selfie/postgres"
                ),
                (["doctor"], "Nothing failed"),
            ] {
                let outcome = try await SelfieProcess.run(arguments, directory: folder.url)
                #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
                #expect(outcome.output.contains(text), "\(arguments): \(outcome.output)")
                #expect(outcome.errors.hasPrefix(hint))
            }
            // What goes out is printed, and stays in a folder.
            let credential = try #require(settings.firstMatch(of: /API_AUTH_PASSWORD=(\w+)/)?.1)
            let database = try await process.waitForOutput(#"psql '([^']+)'"#)
            try await TestCluster.withClient(database) { postgres in
                try await postgres.write(
                    """
                    INSERT INTO users (first_name, last_name, email, password_hash)
                    VALUES ('Ada', 'Lovelace', 'ada@example.com', '*')
                    """
                )
                let service = ServedSelfie.attach(
                    port: port,
                    databaseURL: database,
                    objects: .disk(folder.url),
                    postgres: postgres
                )
                let answer = try await service.sendForm(
                    "POST",
                    "/api/request_code",
                    authorization: "Basic \(Data("selfie:\(credential)".utf8).base64EncodedString())",
                    [("email", "ada@example.com"), ("purpose", "signin")]
                )
                #expect(answer.status == 200)
            }
            let code = try await process.waitForOutput(#"mail to ada@example\.com: your code is (\d{6})"#)
            let mails = try folder.url.appending(path: ".selfie/outbox").names()
            #expect(mails.count == 1 && mails[0].hasSuffix(".eml"))
            let mail = try String(
                contentsOf: folder.url.appending(path: ".selfie/outbox/\(mails.first ?? "")"),
                encoding: .utf8
            )
            #expect(mail.contains("\r\n    \(code)\r\n"))
            let sent = try await SelfieProcess.run(["mail", "test", "grace@example.com"], directory: folder.url)
            #expect(sent.output == "The mail is in .selfie/outbox.\n")
            // Half of its data with half of another would belong to no installation.
            let other = try await SelfieProcess.run(
                ["users", "list"],
                environment: ["OBJECTS_PATH": "elsewhere"],
                directory: folder.url
            )
            #expect(other.errors.contains("can't be reached"), "\(other.errors)")

            try await stop(process, in: folder, by: SIGHUP)
            let after = try await SelfieProcess.run(["users", "list"], directory: folder.url)
            #expect(after.status != 0)
            #expect(after.errors.contains("can't be reached"), "\(after.errors)")
            // Without another database, it is the development server that is missing.
            try Data(settings.utf8).write(to: file)
            for arguments in [["users", "list"], ["doctor"]] {
                let stopped = try await SelfieProcess.run(arguments, directory: folder.url)
                let text = stopped.output + stopped.errors
                #expect(stopped.status == 1 && text.contains("bin/dev is not running here"), "\(text)")
                #expect(!text.contains("AWS"), "\(text)")
            }
            let dead = try await SelfieProcess.run(["probe", "--port", "\(port)"], directory: folder.url)
            #expect(dead.status == 1)
        }
    }

    private func checkEnvironmentFile(_ folder: DevelopmentFolder) throws {
        let path = folder.url.appending(path: ".env").path
        let mode = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        #expect(mode & 0o777 == 0o600)
        let contents = try String(contentsOfFile: path, encoding: .utf8)
        #expect(contents.contains("API_AUTH_NAME=selfie\n"))
        #expect(contents.contains(/API_AUTH_PASSWORD=[A-Za-z0-9]{32}\n/))
        #expect(contents.contains(/SECRET_KEY_BASE=[A-Za-z0-9]{64}\n/))
        #expect(try folder.url.names() == [".env", ".selfie", "docs", "migrations"])
    }

    /// Pastes the printed block as it is, and returns the path of the one photo that it lists.
    private func pasteBlock(from process: SelfieProcess, in folder: DevelopmentFolder) async throws -> String {
        let block = try await process.waitForOutput(#"(?s)(\. \./\.env\n.*/api/get_photos; echo\n)"#)
        let lines = try await folder.paste(block)
        #expect(lines.count == 3)
        #expect(
            lines.first?.hasPrefix(
                #"{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","api_authtoken":null,"authtoken_expiry":null,"id":"#
            ) == true
        )
        let list = try #require(
            try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [[String: Any]]
        )
        #expect(list.count == 1)
        #expect(list.first?["title"] as? String == "My first selfie")
        #expect(list.first?["name"] as? String == "example.jpg")
        return try #require(list.first?["image_url"] as? String)
    }

    /// Fetches a photo without any header, from the address it was listed with or another port.
    private func fetch(_ address: String, port: Int? = nil) async throws -> Data {
        var components = try #require(URLComponents(string: address))
        if let port { components.port = port }
        let url = try #require(components.url)
        return try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "photo")
            _ = try await DevelopmentFolder(url: folder).paste("curl -s -f -o photo '\(url.absoluteString)'")
            return try Data(contentsOf: file)
        }
    }

    /// Ends a process by a signal; nothing that it started is left.
    private func stop(_ process: SelfieProcess, in folder: DevelopmentFolder, by signal: Int32) async throws {
        #expect(!folder.serverIDs().isEmpty)
        process.signal(signal)
        #expect(try await process.waitForExit() == 0)
        #expect(process.output.contains("Stopping …"))
        #expect(process.output.contains("Stopped. Your data stays in .selfie."))
        try await poll("all processes are gone") { folder.processIDs().isEmpty }
    }
}
