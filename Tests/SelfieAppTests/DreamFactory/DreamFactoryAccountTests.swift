import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Accounts of apps that were made for DreamFactory", .timeLimit(.minutes(1)))
struct DreamFactoryAccountTests {
    private static let ada =
        #"{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace","new_password":"a good password"}"#
    private static let signIn = #"{"email":"ada@example.com","password":"a good password"}"#

    @Test("Passwords are taken over TLS or on this machine alone, and refused before anything is looked at")
    func clear() async throws {
        try await TestService.run { service in
            for headers in [[("X-Forwarded-Proto", "http")], [("X-Forwarded-For", "203.0.113.9")]] {
                for (target, body) in [
                    ("/user/register", Self.ada), ("/user/session", Self.signIn), ("/user/session", "{"),
                ] {
                    let answer = try await service.rest("POST", target, body, headers: headers)
                    #expect(answer.status == 403)
                    #expect(answer.message == "Passwords are not encrypted in this call. Please use https")
                }
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            let https = [("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "203.0.113.9")]
            #expect(try await service.rest("POST", "/user/register", Self.ada, headers: https).status == 200)
            #expect(try await service.rest("POST", "/user/session", Self.signIn, headers: https).status == 200)
        }
        try await TestService.run(settings: ["TRUSTED_PROXIES": "1"]) { service in
            let answer = try await service.rest("POST", "/user/register", Self.ada)
            #expect(answer.status == 403)
        }
    }

    @Test("An account is made with a first and a last name, or with a display name, and may sign in at once")
    func register() async throws {
        try await TestService.run { service in
            #expect(try await service.rest("POST", "/user/register", Self.ada).text == #"{"success":true}"#)
            let again = try await service.rest("POST", "/user/register", Self.ada)
            #expect([again.status, (again.json["error"] as? [[String: Any]])?.first?["code"] as? Int] == [400, 400])
            #expect(again.message == "email - has already been taken,")
            let bob = try await service.rest(
                "POST",
                "/user/register?login=true",
                #"{"email":"bob@example.com","display_name":"Bob T. Builder","password":"another password"}"#
            )
            #expect(bob.json["display_name"] as? String == "Bob Builder", "\(bob.text)")
            #expect(bob.headers["cache-control"] == "no-store")
            let token = try #require(bob.json["session_id"] as? String)
            let session = TestMember(name: "bob", token: token, id: "")
            #expect(try await service.rest("GET", "/user/session", as: session).text == bob.text)
            let cases = [
                (#"{"email":"c@example.com","new_password":"a good password"}"#, "required parameters are missing"),
                (
                    #"{"email":"c@example.com","first_name":"C","new_password":"a good password"}"#,
                    "required parameters are missing"
                ),
                (#"{"display_name":"C D","new_password":"a good password"}"#, "required parameters are missing"),
                (#"{"email":"c@example.com","display_name":"C D"}"#, "required parameters are missing"),
                (#"{"email":"c@example.com","display_name":"C D","new_password":"short"}"#, "password - is too short"),
                (#"{"email":"c","display_name":"C D","new_password":"a good password"}"#, "email - is invalid"),
                (#"["email"]"#, "The request's JSON must be an object"), ("<x/>", "The request's body must be JSON"),
                ("", "required parameters are missing"),
            ]
            for (body, message) in cases {
                let answer = try await service.rest("POST", "/user/register", body)
                #expect(answer.message?.hasPrefix(message) == true, "\(body): \(answer.text)")
            }
            // A query is in the logs of proxies.
            let query = try await service.rest(
                "POST",
                "/user/session?password=a%20good%20password",
                #"{"email":"ada@example.com"}"#
            )
            #expect(query.status == 400)
            #expect(try await service.count("SELECT count(*) FROM users") == 2)
        }
    }

    @Test("A session begins with the password, has the application's name, and ends for good")
    func session() async throws {
        try await TestService.run { service in
            #expect(try await service.rest("POST", "/user/register", Self.ada).status == 200)
            for body in [
                Self.signIn, Self.signIn.replacing("email", with: "userName"),
                Self.signIn.replacing("email", with: "username"),
            ] {
                let answer = try await service.rest(
                    "POST",
                    "/user/session",
                    body,
                    headers: [("Content-Type", "application/x-www-form-urlencoded")]
                )
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.json["is_sys_admin"] as? Bool == false)
                #expect(answer.json["email"] as? String == "ada@example.com")
                let ada = TestMember(name: "ada", token: try #require(answer.json["session_id"] as? String), id: "")
                let list = try await service.call("GET", "/api/sessions", as: ada)
                #expect(list.jsonArray?.last?["device"] as? String == "bugs", "\(list.text)")
                #expect(try await service.rest("DELETE", "/user/session", as: ada).text == #"{"success":true}"#)
                for method in ["GET", "DELETE"] {
                    #expect(try await service.rest(method, "/user/session", as: ada).status == 401)
                }
            }
            let named = try await service.send(
                "POST",
                "/rest/user/session?app_name=tracker",
                body: Data(Self.signIn.utf8)
            )
            let member = TestMember(name: "", token: try #require(named.json["session_id"] as? String), id: "")
            let list = try await service.call("GET", "/api/sessions", as: member)
            #expect(list.jsonArray?.last?["device"] as? String == "tracker")
            let wrong = try await service.rest("POST", "/user/session", Self.signIn.replacing("good", with: "bad"))
            #expect(wrong.text == #"{"error":[{"message":"Wrong email or password","code":401}]}"#)
            #expect(try await service.rest("POST", "/user/session", #"{"email":"ada@example.com"}"#).status == 400)
            service.clock.advance(by: 25 * 3_600)
            #expect(try await service.rest("GET", "/user/session", as: member).status == 401)
        }
    }

    @Test("Wrong passwords count for the same limits as elsewhere")
    func limits() async throws {
        try await TestService.run(settings: ["RATE_LIMITS": "on", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "3/1h"]) { service in
            #expect(try await service.rest("POST", "/user/register", Self.ada).status == 200)
            let wrong = Self.signIn.replacing("good", with: "bad")
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await service.rest("POST", "/user/session", wrong).status) }
            #expect(statuses == [401, 401, 401, 429, 429])
            let refused = try await service.rest("POST", "/user/session", Self.signIn)
            #expect(refused.headers["retry-after"] != nil)
            #expect((refused.json["error"] as? [[String: Any]])?.first?["code"] as? Int == 429)
        }
    }

    @Test("Without its setting, nothing of it is there")
    func closed() async throws {
        try await TestService.run(settings: ["DREAMFACTORY": "false"]) { service in
            let ada = try await service.addMember("ada")
            for (method, target) in [("GET", "/user/session"), ("GET", "/db/records"), ("POST", "/user/register")] {
                let answer = try await service.rest(method, target, as: ada)
                #expect(answer.status == 404 && answer.code == "endpoint_not_found", "\(answer.text)")
            }
            let document = try await service.send("GET", "/openapi.json").text
            #expect(document.contains("/api/records") && !document.contains("/rest/"))
        }
    }

    @Test("An account without a password signs in with a code, where the service allows that")
    func code() async throws {
        try await TestService.run(settings: ["SIGNUP_WITHOUT_PASSWORD": "true"]) { service in
            let body = #"{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}"#
            #expect(try await service.rest("POST", "/user/register?login=true", body).text == #"{"success":true}"#)
            let code = try await service.mails.code(to: "ada@example.com")
            let answer = try await service.rest(
                "POST",
                "/user/session",
                #"{"email":"ada@example.com","code":"\#(code)"}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}
