import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("The database goes away", .timeLimit(.minutes(4)), .serialized)
struct DatabaseOutageTests {
    /// What a client that knows the service does, one request each.
    private struct Client {
        let service: TestService
        let token: String
        /// A second session's token, to be cleared.
        let spareToken: String
        let randomID: String
        let imageURL: String

        init(_ service: TestService) async throws {
            self.service = service
            token = try await service.makeToken(email: "ada@example.com")
            let signIn = try await service.signIn(email: "ada@example.com")
            spareToken = try #require(signIn.json["api_authtoken"] as? String)
            let answer = try await service.upload(token: token)
            randomID = try #require(answer.json["random_id"] as? String)
            imageURL = try #require(answer.json["image_url"] as? String)
        }

        /// Each call by its name.
        func calls() throws -> [(name: String, send: @Sendable () async throws -> HTTPAnswer)] {
            let password = try TestService.encrypt("my password")
            let (service, token, randomID, imageURL) = (service, token, randomID, imageURL)
            let (bearer, spare) = ("Token token=\(token)", "Token token=\(spareToken)")
            return [
                ("signup", { try await service.signUp(email: "bob-\(UUID().uuidString)@example.com") }),
                ("signin", { try await service.signIn(email: "ada@example.com", password: "my password") }),
                (
                    "get_token",
                    {
                        try await service.sendForm(
                            "GET",
                            "/api/get_token",
                            authorization: TestService.basic,
                            [("email", "ada@example.com"), ("password", password)]
                        )
                    }
                ),
                ("upload_photo", { try await service.upload(token: token) }),
                ("get_photos", { try await service.list(token: token) }),
                ("photo", { try await service.send("GET", imageURL) }),
                ("delete_photo", { try await service.delete(randomID, token: token) }),
                ("clear_token", { try await service.sendForm("POST", "/api/clear_token", authorization: spare) }),
                (
                    "reset_password",
                    {
                        try await service.sendForm(
                            "POST",
                            "/api/reset_password",
                            authorization: bearer,
                            [("old_password", password), ("new_password", password)]
                        )
                    }
                ),
            ]
        }

        /// Sends every call at once, several times each, and expects all to be refused in time.
        func expectRefusals() async throws {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (name, send) in try calls() {
                    for _ in 0..<3 {
                        tasks.addTask {
                            let start = ContinuousClock.now
                            let answer = try await send()
                            #expect(answer.status == 503, "\(name): \(answer.text)")
                            #expect(answer.json["status"] as? Int == 503, "\(name)")
                            #expect(answer.message?.isEmpty == false, "\(name)")
                            #expect(answer.headers["retry-after"] == "5", "\(name)")
                            #expect(ContinuousClock.now - start < outageAnswerMax, "\(name)")
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            #expect(try await service.send("GET", "/").status == 200)
        }

        /// Sends every call one after another, and expects all to work.
        func expectService() async throws {
            for (name, send) in try calls() {
                let answer = try await send()
                let expected = name == "photo" && service.objects.isBucket ? 302 : 200
                #expect(answer.status == expected, "\(name): \(answer.text)")
            }
        }
    }

    private func run(
        _ store: TestStore,
        _ body: @Sendable (OwnCluster, TestService, Client) async throws -> Void
    ) async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(databaseURL: cluster.url, store: store, settings: ["RATE_LIMITS": "on"]) {
                service in
                try await body(cluster, service, Client(service))
            }
        }
    }

    private func expectReturn(_ service: TestService, _ client: Client) async throws {
        try await poll("the service works again by itself", within: .seconds(5)) {
            try await service.list(token: client.token).status == 200
        }
        try await client.expectService()
    }

    @Test(
        "Killed, every call is refused in JSON within 5 s, and works within 5 s of its return",
        arguments: TestStore.allCases
    )
    func killed(store: TestStore) async throws {
        try await run(store) { cluster, service, client in
            try await cluster.kill()
            try await client.expectRefusals()
            #expect(service.objects.keys() == [client.randomID])
            try await cluster.start()
            try await expectReturn(service, client)
        }
    }

    @Test("Halted, every call is refused in JSON within 5 s, and works within 5 s of its return")
    func halted() async throws {
        try await run(.disk) { cluster, service, client in
            try cluster.suspend()
            // The second round finds no connection left in the pool.
            for _ in 0..<2 { try await client.expectRefusals() }
            #expect(service.objects.keys() == [client.randomID])
            cluster.resume()
            // What the server had been sent before it halted may run now; only what was never sent may not.
            try await poll("the service works again by itself", within: .seconds(5)) {
                try await service.list(token: client.token).status != 503
            }
        }
    }

    @Test("Restarted between two requests, nobody notices")
    func restarted() async throws {
        try await run(.disk) { cluster, service, client in
            try await cluster.kill()
            try await cluster.start()
            try await client.expectService()
        }
    }
}

extension TestObjects {
    fileprivate var isBucket: Bool {
        if case .s3 = self { true } else { false }
    }
}
