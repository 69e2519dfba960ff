import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Expired tokens")
struct ExpiredTokenTests {
    private static let listText = "Authtoken has expired. Please get a new token and try again!"

    @Test("Each endpoint refuses with its own text, after its look at the parameters", .timeLimit(.minutes(2)))
    func texts() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let randomID = try await service.uploadPhoto(token: token)
            let session = try await service.count("SELECT id::bigint AS count FROM sessions")
            let old = try TestService.encrypt("my password")
            let new = try TestService.encrypt("my new password")
            let authorization = tokenHeader(token)
            let upload = Scenario.Payload.raw(
                contentType: "multipart/form-data; boundary=\(TestMultipart.boundary)",
                TestMultipart.body(image: TestImage.png(bytes: 64), title: "Late")
            )
            let notPhoto = Scenario.Payload.raw(
                contentType: "multipart/form-data; boundary=\(TestMultipart.boundary)",
                TestMultipart.body(image: Data("text".utf8), title: String(repeating: "x", count: 300))
            )
            let passwords = Scenario.Payload.form([("old_password", old), ("new_password", new)])
            let wrongPasswords = Scenario.Payload.form([("old_password", "wrong"), ("new_password", "wrong")])
            let resetText = "Authtoken is invalid or has expired. Kindly refresh the token and try again!"
            let clearText = "You don't have permission to do this task"
            let expired: [(String, Scenario.Payload, String)] = [
                ("POST /api/reset_password", passwords, resetText),
                ("POST /api/reset_password", wrongPasswords, resetText),
                ("POST /api/upload_photo", upload, "Authtoken has expired"),
                ("POST /api/upload_photo", notPhoto, "Authtoken has expired"),
                ("GET /api/get_photos", .none, Self.listText),
                ("DELETE /api/delete_photo", .form([("photo_id", randomID)]), Self.listText),
                ("DELETE /api/delete_photo", .form([("photo_id", "unknown")]), Self.listText),
                ("GET /api/clear_token", .none, clearText),
                ("POST /api/clear_token", .none, clearText),
                ("DELETE /api/clear_token?all=true", .none, clearText),
                ("GET /api/sessions", .none, Self.listText),
                ("DELETE /api/sessions/\(session)", .none, Self.listText),
                ("DELETE /api/sessions/unknown", .none, Self.listText),
                ("DELETE /api/account", .form([("password", old)]), Self.listText),
                ("DELETE /api/account", .form([("password", "wrong")]), Self.listText),
            ]
            let incomplete = [
                "POST /api/reset_password", "POST /api/upload_photo", "DELETE /api/delete_photo", "DELETE /api/account",
            ]

            service.clock.advance(by: 24 * 3600 - 120)
            #expect(try await service.list(token: token).status == 200)
            service.clock.advance(by: 120)
            for (call, payload, message) in expired {
                let answer = try await service.check(
                    Scenario(
                        "\(call), expired",
                        call,
                        authorization: authorization,
                        payload,
                        status: 401,
                        message: message
                    )
                )
                #expect(answer.headers["www-authenticate"] == nil)
            }
            for call in incomplete {
                try await service.check([
                    Scenario(
                        "\(call), expired and incomplete",
                        call,
                        authorization: authorization,
                        status: 400,
                        message: Refusal.missing
                    ),
                    Scenario(
                        "\(call), unknown and incomplete",
                        call,
                        authorization: tokenHeader("unknown"),
                        status: 401,
                        message: Refusal.token
                    ),
                ])
            }
            for call in ["GET /api/get_photos", "GET /api/clear_token", "GET /api/sessions"] {
                try await service.check(
                    Scenario(
                        "\(call), as HEAD",
                        call.replacing("GET", with: "HEAD"),
                        authorization: authorization,
                        status: 401
                    )
                )
            }
            #expect(service.objects.keys() == [randomID])
            let fresh = try await service.newToken()
            #expect(try await service.list(token: fresh).jsonArray?.count == 1)
        }
    }

    @Test("TOKEN_LIFETIME_HOURS is how long a token lives")
    func lifetime() async throws {
        try await TestService.run(settings: ["TOKEN_LIFETIME_HOURS": "2"]) { service in
            let token = try await service.makeToken()
            service.clock.advance(by: 2 * 3600 - 60)
            #expect(try await service.list(token: token).status == 200)
            service.clock.advance(by: 60)
            #expect(try await service.list(token: token).message == Self.listText)
        }
    }
}
