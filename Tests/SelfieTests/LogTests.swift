import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("The log of selfie serve", .timeLimit(.minutes(2)))
struct LogTests {
    @Test(
        "Each request is one line with method, endpoint, status, duration, bytes, network and id, without secrets",
        arguments: TestStore.allCases
    )
    func lines(store: TestStore) async throws {
        try await ServedSelfie.run(store: store, settings: ["LOG_LEVEL": "trace"]) { served in
            let service = served.service
            let email = "ada.lovelace@example.com"
            let password = "correct horse battery"
            _ = try await service.signUp(email: email, password: "wrong e-mail")
            #expect(try await service.signUp(email: email, password: password).status == 400)
            let signedIn = try await service.signIn(email: email, password: "wrong e-mail")
            let token = try #require(signedIn.json["api_authtoken"] as? String)
            #expect(try await service.signIn(email: email, password: password).status == 401)
            let randomID = try #require(
                try await service.upload(token: token, title: "A private title", fileName: "private.png").json[
                    "random_id"
                ] as? String
            )
            let list = try await service.list(token: token)
            let url = try #require(list.jsonArray?.first?["image_url"] as? String)
            #expect(try await service.send("GET", url).status == (store == .s3 ? 302 : 200))
            #expect(try await service.list(token: "a-token-nobody-has").status == 401)
            #expect(try await service.send("GET", "/no/such/page?email=\(email)").status == 404)
            let named = try await service.send(
                "GET",
                "/api/get_photos?token=\(token)",
                headers: [("X-Request-Id", "my-own-id")]
            )
            #expect(named.headers["x-request-id"] == "my-own-id")
            #expect(try await service.delete(randomID, token: token).status == 200)

            served.process.signal(SIGTERM)
            #expect(try await served.process.waitForExit() == 0)
            let output = served.process.output
            let expected = [
                "POST /api/signup 200", "POST /api/signup 400", "POST /api/signin 200", "POST /api/signin 401",
                "POST /api/upload_photo 200", "GET /api/get_photos 200",
                "GET /photos/{random_id} \(store == .s3 ? 302 : 200)", "GET /api/get_photos 401", "GET none 404",
                "GET /api/get_photos 401", "DELETE /api/delete_photo 200",
            ]
            #expect(try Self.requests(in: output) == expected)
            #expect(output.contains("request_id=my-own-id"))
            #expect(!output.contains("hb.request.id"), "one request has one id")
            #expect(output.contains("level=info msg=\"a client's address is that of its connection, since "))

            let signature = try #require(url.split(separator: "signature=").last)
            var secrets = [
                email, password, "wrong e-mail", token, String(signature), "private.png", "A private title",
                "a-token-nobody-has", TestService.apiPassword, TestService.basic, "secret-key-base",
                try TestService.encrypt(password), "$2b$", "ada.lovelace",
            ]
            if case .s3(let server, _) = service.objects { secrets.append(server.secretAccessKey) }
            for secret in secrets { #expect(!output.contains(secret), "the log holds \(secret)") }
        }
    }

    @Test("A log without a reader delays no request, and not the end of the process")
    func unread() async throws {
        let log = Pipe()
        _ = fcntl(log.fileHandleForWriting.fileDescriptor, Self.setPipeSize, 4096)
        try await TestCluster.withDatabase { databaseURL in
            try await ServedSelfie.withObjects(.disk) { objects in
                try await TestCluster.withClient(databaseURL) { postgres in
                    let process = try SelfieProcess(
                        [
                            "serve", "--hostname", "127.0.0.1", "--port", "0", "--migrations",
                            ServedSelfie.migrationsPath,
                        ],
                        environment: TestService.settings(databaseURL: databaseURL, objects: objects),
                        standardOutput: log.fileHandleForWriting
                    )
                    var text = ""
                    while !text.contains("listening on") {
                        text += String(decoding: log.fileHandleForReading.availableData, as: UTF8.self)
                    }
                    let port = try #require(text.firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/)?.output.1)
                    let service = ServedSelfie.attach(
                        port: try #require(Int(port)),
                        databaseURL: databaseURL,
                        objects: objects,
                        postgres: postgres
                    )
                    for _ in 0..<100 { #expect(try await service.send("GET", "/").status == 200) }
                    process.signal(SIGTERM)
                    #expect(try await process.waitForExit() == 0)
                }
            }
        }
        #expect(log.fileHandleForReading.availableData.count > 3_000, "it was full, and nobody has read it")
    }

    /// Source: linux/fcntl.h, `F_SETPIPE_SZ`.
    private static let setPipeSize: Int32 = 1031

    /// Method, route and status of each line about a request that has all that belongs there.
    private static func requests(in output: String) throws -> [String] {
        try output.split(separator: "\n").filter { $0.contains("msg=request ") }.map { line in
            func value(_ key: String, _ pattern: String) throws -> Substring {
                let match = line.firstMatch(of: try Regex("[ \\[{]\(key)=(\(pattern))"))
                return try #require(match?.output[1].substring, "\(key) in \(line)")
            }
            _ = try value("ms", "[0-9]+\\.[0-9]")
            _ = try value("bytes", "[0-9]+")
            _ = try value("network", "127\\.0\\.0\\.0/24")
            _ = try value("request_id", "[A-Za-z0-9-]{8,}")
            return [
                try value("method", "[A-Z]+"), try value("endpoint", "[A-Za-z/_{}:]+"), try value("status", "[0-9]{3}"),
            ].joined(separator: " ")
        }
    }
}
