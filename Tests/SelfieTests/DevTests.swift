import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// One at a time, since each makes a cluster of its own.
@Suite("selfie dev", .serialized, .timeLimit(.minutes(5)))
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

            let (third, thirdPort) = try await folder.startDevAndWait()
            #expect(try await fetch(photo, port: thirdPort) == TestImage.jpeg)
            try await stop(third, in: folder, by: SIGTERM)
        }
    }

    @Test("After selfie and PostgreSQL were both killed, the next start recovers")
    func killedTogether() async throws {
        try await DevelopmentFolder.with { folder in
            let (process, _) = try await folder.startDevAndWait()
            let photo = try await pasteBlock(from: process, in: folder)
            process.signal(SIGKILL)
            for processID in folder.serverIDs() { kill(processID, SIGKILL) }
            let isGone = try await eventually { folder.processIDs().isEmpty }
            #expect(isGone)
            let (second, port) = try await folder.startDevAndWait()
            #expect(try await fetch(photo, port: port) == TestImage.jpeg)
            try await stop(second, in: folder, by: SIGTERM)
        }
    }

    @Test("A second one in the same folder says so and ends, the first goes on; a taken port stops everything again")
    func twice() async throws {
        try await DevelopmentFolder.with { folder in
            let (process, port) = try await folder.startDevAndWait()
            let second = try folder.startDev()
            #expect(try await second.waitForExit() != 0)
            #expect(second.output.contains("is in use by another process"))
            let welcome = try await folder.paste("curl -s http://127.0.0.1:\(port)/")
            #expect(welcome == ["Glad to find you here!"])
            try await stop(process, in: folder, by: SIGTERM)

            let other = try SilentServer()
            let third = try folder.startDev(port: other.port)
            #expect(try await third.waitForExit() != 0)
            #expect(third.output.contains("Port \(other.port) of 127.0.0.1 is in use."))
            let isGone = try await eventually { folder.processIDs().isEmpty }
            #expect(isGone)
        }
    }

    @Test("A signal during the start stops everything, and the next start works", arguments: [SIGTERM, SIGINT])
    func signalDuringStart(signal: Int32) async throws {
        try await DevelopmentFolder.with { folder in
            // A start that is over before the signal comes would prove nothing.
            let pause = folder.url.appending(path: "migrations/20130101000000_pause.sql")
            try Data("-- migrate:up\nSELECT pg_sleep(3);\n-- migrate:down\n".utf8).write(to: pause)
            let process = try folder.startDev()
            _ = try await process.waitForOutput("(Starting PostgreSQL)")
            process.signal(signal)
            #expect(try await process.waitForExit() == 0)
            #expect(!process.output.contains("Selfie is at"))
            let isGone = try await eventually { folder.processIDs().isEmpty }
            #expect(isGone)

            let (second, _) = try await folder.startDevAndWait()
            try await stop(second, in: folder, by: signal)
        }
    }

    @Test("A .env that is there already is used as it is")
    func existingEnvironmentFile() async throws {
        try await DevelopmentFolder.with { folder in
            let values = [
                "API_AUTH_NAME": "mine", "API_AUTH_PASSWORD": "my own", "PORT": "0",
                "SECRET_KEY_BASE": String(repeating: "s", count: 64), "PASSWORD_HASH_COST": "10",
            ]
            try folder.url.writeEnvironment(values)
            let before = try Data(contentsOf: folder.url.appending(path: ".env"))
            let process = try SelfieProcess(["dev"], directory: folder.url)
            let port = try await process.waitForOutput(DevelopmentFolder.address, timeout: .seconds(60))
            #expect(try Data(contentsOf: folder.url.appending(path: ".env")) == before)
            let answer = try await folder.paste("curl -s -u 'mine:my own' -X POST http://127.0.0.1:\(port)/api/signin")
            #expect(answer == [#"{"status":400,"message":"required parameters are missing"}"#])
            try await stop(process, in: folder, by: SIGTERM)
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
            lines.first
                == #"{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","api_authtoken":null,"authtoken_expiry":null}"#
        )
        let list = try #require(
            try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [[String: String]]
        )
        #expect(list.count == 1)
        #expect(list.first?["title"] == "My first selfie")
        #expect(list.first?["name"] == "example.jpg")
        return try #require(list.first?["image_url"])
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
        #expect(process.output.contains("Stopped. Your data is kept in .selfie."))
        let isGone = try await eventually { folder.processIDs().isEmpty }
        #expect(isGone)
    }
}
