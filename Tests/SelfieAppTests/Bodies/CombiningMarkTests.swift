import ConnectionTestSupport
import Foundation
import HTTPTypes
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieWeb

/// The short sister of `MarkSoakTests`.
@Suite("Texts with many combining marks", .timeLimit(.minutes(2)))
struct CombiningMarkTests {
    private static func marks(_ count: Int) -> String { String(repeating: "\u{0301}", count: count) }

    private static let unfit =
        "The request's names are too long: each may have 255 bytes and 30 combining marks in a row, and all together 64 KiB"

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

    @Test("Each parameter of each call with 31 in a row is refused by its name")
    func everyParameter() async throws {
        try await TestService.runWithSchema { service in
            let token = try await service.makeToken()
            try await service.add(try await service.count("SELECT id::bigint AS count FROM users"), to: "leads")
            var count = 0
            for endpoint in Routes.endpoints {
                for parameter in endpoint.parameters where Self.isText(parameter) {
                    count += 1
                    let path = endpoint.path.replacing(":collection", with: "houses").replacing(
                        ":table",
                        with: "houses"
                    ).replacing(":member", with: "x")
                        .replacing(":role", with: "team")
                    let query = endpoint.parameters.filter {
                        $0.location == .query && $0.isRequired || $0.name == parameter.name
                    }
                    .map { ($0.name, $0.name == parameter.name ? Self.marks(31) : $0.example) }
                    // A value from an earlier answer is in no example of a body.
                    let isInQuery = parameter.location == .query || parameter.kind == .id && !parameter.isRequired
                    let payload =
                        isInQuery
                        ? .none : try endpoint.payload([parameter.name: Self.marks(31)], without: parameter.rival)
                    var headers = endpoint.credentials(token: token)
                    if let (contentType, _) = payload.encoded { headers.append(("Content-Type", contentType)) }
                    let answer = try await service.send(
                        endpoint.method.rawValue,
                        isInQuery ? "\(path)?\(Scenario.Payload.formText(query))" : path,
                        headers: headers,
                        body: payload.encoded?.1
                    )
                    // DreamFactory's routes show no codes.
                    let isNamed = answer.message?.hasPrefix("\(parameter.name) - ") == true
                    #expect(
                        answer.status == 400
                            && (endpoint.topic == .dreamFactory ? isNamed : answer.code == "\(parameter.name)_invalid"),
                        "\(endpoint.method) \(path), \(parameter.name): \(answer.text)"
                    )
                }
            }
            #expect(count > 50)
        }
    }

    private static func isText(_ parameter: Endpoint.Parameter) -> Bool {
        guard [.query, .anywhere, .multipart].contains(parameter.location), !parameter.kind.isPassword else {
            return false
        }
        // A photo is not a text. A wrong signature of a URL gets no details.
        return ![.photo, .signature].contains(parameter.kind)
    }

    @Test("So is each text of a profile and of a condition, also with escapes of JSON; a URL of a photo does not work")
    func everyMember() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let escaped = String(repeating: #"\u0301"#, count: 31)
            for text in [Self.marks(31), escaped] {
                for name in ["first_name", "last_name", "title", "picture"] {
                    let answer = try await service.call("PATCH", "/api/me", as: ada, #"{"\#(name)":"\#(text)"}"#)
                    #expect(answer.status == 400 && answer.code == "\(name)_invalid", "\(answer.text)")
                }
                let fields = try await service.call("PATCH", "/api/me", as: ada, #"{"fields":{"a":["\#(text)"]}}"#)
                #expect(fields.status == 400 && fields.code == "fields_invalid")
                #expect(fields.message?.contains("at most 30 combining marks in a row") == true)
                for value in [#"{"address":"\#(text)"}"#, #"{"\#(text)":"a"}"#] {
                    let path = "/api/records/houses?where=\(value.formEncoded)"
                    let answer = try await service.call("GET", path, as: ada)
                    #expect(answer.status == 400 && answer.code == "where_invalid", "\(answer.text)")
                }
            }
            let scope = Self.marks(31).formEncoded
            let photo = try await service.send("GET", "/photos/x?expires=1&signature=x&for=\(scope)")
            #expect(photo.status == 403)
        }
    }

    @Test("A segment of a path that can't be a member's id is no member, and not the caller's own inbox")
    func segments() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for member in ["%E0", Self.marks(31).formEncoded, String(repeating: "m", count: 256), "%00"] {
                let path = "/api/members/\(member)/records/inbox/m1"
                let answer = try await service.call("PUT", path, as: ada, #"{"data":{}}"#)
                #expect(answer.status == 404, "\(answer.text)")
            }
            #expect(try await service.count("SELECT count(*) FROM records") == 0)
        }
    }

    @Test("Names of 64 KiB in all are taken in a record, and one byte more is refused")
    func allNames() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            // 256 names of 255 bytes, one of 243 or 244, and those of the record itself: 65,536 or 65,537 bytes.
            let names = (0..<256).map { "\(1_000 + $0)\(String(repeating: "n", count: 251))" }
            for (length, code) in [(243, "record_too_large"), (244, "name_unfit")] {
                let members = (names + [String(repeating: "z", count: length)]).map { #""\#($0)":1"# }
                let body = #"{"data":{\#(members.joined(separator: ","))},"readers":[],"id":"x"}"#
                let answer = try await service.call("POST", "/api/records/threads", as: ada, body)
                #expect(answer.code == code, "\(answer.text.prefix(200))")
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
            // Before anything else of the call is looked at, and so in each collection, and in each element.
            for path in ["/api/records/nowhere", "/api/members/nobody/records/inbox"] {
                let unseen = try await service.call("POST", path, as: ada, bodies[0].0)
                #expect(unseen.status == 400 && unseen.code == "record_invalid", "\(unseen.text)")
            }
            let second = try await service.call(
                "POST",
                "/api/records/inbox",
                as: ada,
                #"[{"data":{}},\#(bodies[0].0)]"#
            )
            #expect(second.message == "record 1: a - is invalid,")
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
