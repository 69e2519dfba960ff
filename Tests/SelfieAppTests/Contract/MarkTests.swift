import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

/// The short sister of `MarkSoakTests`.
@Suite("Texts with many combining marks", .timeLimit(.minutes(2)))
struct MarkTests {
    private static func marks(_ count: Int) -> String { String(repeating: "\u{0301}", count: count) }

    private static let unfit = "A name in the request has more than 255 bytes, or more than 30 combining marks in a row"

    @Test("A parameter with 31 in a row is refused by its name, in the query and in every kind of body; 30 are not")
    func values() async throws {
        try await TestService.run { service in
            _ = try await service.makeToken()
            for (count, status, message) in [(31, 400, "email - is invalid,"), (30, 401, "Wrong email or password")] {
                let credentials = [
                    ("email", "ada\(Self.marks(count))"), ("password", try TestService.encrypt("my password")),
                ]
                for (name, payload) in Scenario.Payload.allForms(of: credentials) {
                    try await service.check(
                        Scenario(
                            "\(count) in \(name)",
                            "POST /api/signin",
                            authorization: TestService.basic,
                            payload,
                            status: status,
                            message: message,
                            event: status == 401 ? "sign_in_failed" : nil
                        )
                    )
                }
                let answer = try await service.send(
                    "POST",
                    "/api/signin?\(Scenario.Payload.formText(credentials))",
                    headers: [("Authorization", TestService.basic)]
                )
                #expect(answer.status == status && answer.message == message)
            }
        }
    }

    @Test(
        "A name with 31 in a row or of 256 bytes is refused, in the query and in every kind of body; 30 and 255 are not"
    )
    func names() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let names = [
                (Self.marks(31), true), (Self.marks(30), false), (String(repeating: "n", count: 256), true),
                (String(repeating: "n", count: 255), false),
            ]
            for (name, isRefused) in names {
                let parameters = [(name, "x"), ("photo_id", "none")]
                let (status, message) =
                    isRefused
                    ? (400, Self.unfit) : (401, "Invalid Photo ID or You don't have permission to delete this photo!")
                for (kind, payload) in Scenario.Payload.allForms(of: parameters) {
                    try await service.check(
                        Scenario(
                            "\(name.utf8.count) bytes in \(kind)",
                            "DELETE /api/delete_photo",
                            authorization: tokenHeader(token),
                            payload,
                            status: status,
                            message: message
                        )
                    )
                }
                let answer = try await service.send(
                    "DELETE",
                    "/api/delete_photo?\(name.formEncoded)=x&photo_id=none",
                    headers: [("Authorization", tokenHeader(token))]
                )
                #expect(answer.status == status && answer.message == message)
            }
        }
    }

    @Test("A header with 31 in a row is refused, whatever its name; 30 are not")
    func headers() async throws {
        try await TestService.run { service in
            for name in ["Accept-Encoding", "Cookie", "Expect", "If-None-Match", "Origin", "User-Agent", "X-Unknown"] {
                let refused = try await service.send("GET", "/", headers: [(name, "a\(Self.marks(31))")])
                #expect(refused.status == 400 && refused.message == "The request is malformed", "\(name)")
                #expect(try await service.send("GET", "/", headers: [(name, "a\(Self.marks(30))")]).status == 200)
            }
        }
    }

    @Test("A record's fields, ids and readers with 31 in a row are refused, each by its name; 30 are stored")
    func records() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let bodies = [
                (#"{"data":{"a":"\#(Self.marks(31))"}}"#, "record_invalid"),
                (#"{"data":{"a":[{"b":"\#(Self.marks(31))"}]}}"#, "record_invalid"),
                (#"{"data":{"\#(Self.marks(31))":1}}"#, "name_unfit"),
                (#"{"data":{"a":{"\#(Self.marks(31))":1}}}"#, "name_unfit"),
                (#"{"data":{},"id":"\#(Self.marks(31))"}"#, "record_malformed"),
                (#"{"data":{},"readers":["\#(Self.marks(31))"]}"#, "record_malformed"),
            ]
            for (body, code) in bodies {
                let answer = try await service.call("POST", "/api/records/inbox", as: ada, body)
                #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
            }
            let field = try await service.call("POST", "/api/records/inbox", as: ada, bodies[0].0)
            #expect(field.message == "a - is invalid,")
            let stored = #"{"data":{"\#(Self.marks(30))":"\#(Self.marks(30))"}}"#
            #expect(try await service.call("POST", "/api/records/inbox", as: ada, stored).status == 200)
            #expect(try await service.ids("inbox", as: ada).count == 1)
        }
    }

    @Test("Titles keep line breaks and tabs, and white space in names becomes a space")
    func titles() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let title = "Tower\r\n\tof London\n"
            let answer = try await service.upload(token: token, title: title, fileName: "a\tb\u{2028}c")
            #expect(answer.json["title"] as? String == title && answer.json["name"] as? String == "a b c")
            for refused in [Self.marks(31), "a\u{0B}b", "a\u{85}b", "a\u{1B}b"] {
                let answer = try await service.upload(token: token, title: refused)
                #expect(answer.status == 400 && answer.message == "title - is invalid,")
            }
            let name = try await service.upload(token: token, fileName: Self.marks(31))
            #expect(name.status == 400 && name.message == "name - is invalid,")
            #expect(try await service.count("SELECT count(*) FROM photos") == 1)
            let member = try await service.send(
                "PATCH",
                "/api/me",
                headers: [("Authorization", tokenHeader(token)), ("Content-Type", "application/json")],
                body: Data(#"{"first_name":"Ada\tMarie","last_name":"of\u2028Lovelace","title":"A\nB"}"#.utf8)
            )
            #expect(member.json["first_name"] as? String == "Ada Marie")
            #expect(member.json["last_name"] as? String == "of Lovelace" && member.json["title"] as? String == "A B")
        }
    }
}
