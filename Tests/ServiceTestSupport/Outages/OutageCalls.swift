package import ConnectionTestSupport
import Foundation
import Testing

/// A client that knows the service, and all calls that it makes.
package struct OutageCalls: Sendable {
    /// One call by its name.
    package struct Call: Sendable {
        package let name: String
        package let send: @Sendable () async throws -> HTTPAnswer
    }

    /// The session's token.
    package let token: String
    /// The client's one photo.
    package let randomID: String
    private let service: TestService
    /// A second session's token, to be cleared.
    private let spareToken: String
    private let imageURL: String

    /// Makes an account with two sessions and a photo.
    ///
    /// - Parameter service: The service, with a database that works.
    /// - Throws: `UnexpectedAnswer`, or what a connection throws.
    package init(_ service: TestService) async throws {
        self.service = service
        token = try await service.makeToken(email: "ada@example.com")
        let signIn = try await service.signIn(email: "ada@example.com")
        let upload = try await service.upload(token: token)
        guard
            let spare = signIn.json["api_authtoken"] as? String,
            let id = upload.json["random_id"] as? String,
            let url = upload.json["image_url"] as? String
        else { throw UnexpectedAnswer(answer: upload) }
        (spareToken, randomID, imageURL) = (spare, id, url)
    }

    /// The same client at another process on the same database.
    package init(_ client: OutageCalls, at service: TestService) {
        self.service = service
        (token, randomID, spareToken) = (client.token, client.randomID, client.spareToken)
        imageURL = service.origin + client.imageURL.dropFirst(client.service.origin.count)
    }

    /// Every call once; those that end a session or remove the photo come after those that need it.
    package func all() throws -> [Call] {
        let password = try TestService.encrypt("my password")
        let (service, token, randomID, imageURL) = (service, token, randomID, imageURL)
        let (bearer, spare) = ("Token token=\(token)", "Token token=\(spareToken)")
        return [
            Call(name: "signup") { try await service.signUp(email: "bob-\(UUID().uuidString)@example.com") },
            Call(name: "signin") { try await service.signIn(email: "ada@example.com", password: "my password") },
            Call(name: "get_token") {
                try await service.sendForm(
                    "GET",
                    "/api/get_token",
                    authorization: TestService.basic,
                    [("email", "ada@example.com"), ("password", password)]
                )
            },
            Call(name: "upload_photo") { try await service.upload(token: token) },
            Call(name: "get_photos") { try await service.list(token: token) },
            Call(name: "photo") { try await service.send("GET", imageURL) },
            Call(name: "delete_photo") { try await service.delete(randomID, token: token) },
            Call(name: "clear_token") { try await service.sendForm("POST", "/api/clear_token", authorization: spare) },
            Call(name: "reset_password") {
                try await service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: bearer,
                    [("old_password", password), ("new_password", password)]
                )
            },
        ]
    }

    /// Sends every call at once, three times each, and expects all to be refused.
    ///
    /// - Parameter maxAnswer: Within which each is; nil where time does not count.
    /// - Throws: What a connection throws.
    package func expectRefusals(within maxAnswer: Duration? = nil) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for call in try all() {
                for _ in 0..<3 {
                    tasks.addTask {
                        let answer = try await expectAnswer(within: maxAnswer, name: call.name) {
                            try await call.send()
                        }
                        #expect(answer.status == 503, "\(call.name): \(answer.text)")
                        #expect(answer.json["status"] as? Int == 503, "\(call.name)")
                        #expect(answer.message?.isEmpty == false, "\(call.name)")
                        #expect(answer.headers["retry-after"] == "5", "\(call.name)")
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try await service.send("GET", "/").status == 200)
    }
}
