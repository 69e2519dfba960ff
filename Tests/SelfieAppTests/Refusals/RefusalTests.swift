import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieWeb

@Suite("The texts of refusals")
struct RefusalTests {
    private static let missing: [(request: String, payload: Scenario.Payload, names: [String])] = [
        ("POST /api/signup", .none, ["email", "password", "full_name"]),
        ("POST /api/signup", .json(#"{"first_name":"A","email":"a@b.de"}"#), ["password", "last_name"]),
        ("POST /api/signup", .json(#"{"full_name":"A","email":null,"password":"x"}"#), ["email"]),
        ("POST /api/signin?email=a", .none, ["password"]),
        ("GET /api/get_token", .none, ["email", "password"]),
        ("DELETE /api/delete_photo", .none, ["photo_id"]),
        ("POST /api/reset_password", .form([("old_password", "x")]), ["new_password"]),
        ("POST /api/upload_photo", .none, ["title", "image"]),
        ("POST /api/upload_photo?title=x", .none, ["image"]),
        ("POST /api/upload_photo?title=x", .json(#"{"image":"x"}"#), ["image"]),
        ("POST /api/upload_photo", .multipart([("title", "x")]), ["image"]),
        ("POST /api/upload_photo", .multipart([("x", "x")]), ["title", "image"]),
        ("DELETE /api/records/houses", .none, ["ids"]),
    ]

    @Test("Missing parameters are named beside the contract's text")
    func missingParameters() async throws {
        try await TestService.runWithSchema { service in
            let token = try await service.makeToken()
            for (request, payload, names) in Self.missing {
                let isBasic = ["signup", "signin", "get_token"].contains { request.contains($0) }
                let answer = try await service.check(
                    Scenario(
                        request,
                        request,
                        authorization: isBasic ? TestService.basic : tokenHeader(token),
                        payload,
                        status: 400,
                        message: "required parameters are missing"
                    )
                )
                #expect(answer.json["parameters"] as? [String] == names, "\(request)")
            }
        }
        try await TestService.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true"]) { service in
            let headers = [("Authorization", TestService.basic)]
            let answer = try await service.send("GET", "/api/get_token", headers: headers)
            #expect(answer.json["parameters"] as? [String] == ["email"])
        }
    }

    @Test("JSON that is sent as a form gets a hint")
    func hint() async throws {
        try await TestService.run { service in
            let json = Data(#"{"email":"ada@example.com","password":"100%"}"#.utf8)
            let forms: [(type: String, body: Data, isTold: Bool)] = [
                ("application/x-www-form-urlencoded", json, true),
                ("application/x-www-form-urlencoded", Data(#"{"email":"ada@example.com"}"#.utf8), true),
                ("application/x-www-form-urlencoded", Data("email=a".utf8), false),
                ("application/json", Data("{}".utf8), false),
            ]
            for (type, body, isTold) in forms {
                let answer = try await service.send(
                    "POST",
                    "/api/signin",
                    headers: [("Authorization", TestService.basic), ("Content-Type", type)],
                    body: body
                )
                #expect(answer.status == 400)
                let hint = answer.json["hint"] as? String
                #expect((hint?.contains("application/json") == true) == isTold, "\(answer.text)")
            }
        }
    }

    @Test("A malformed form is reported, too, by calls that need no parameters")
    func hintWithoutParameters() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let many = String(repeating: "1&", count: 300)
            let bodies: [(body: String, code: String)] = [
                (#"{"all":"100%"}"#, "parameters_malformed"),
                (#"{"all":"\#(String(repeating: "x", count: 300))"}"#, "name_unfit"),
                (#"{"all":"\#(many)"}"#, "too_many_parameters"),
            ]
            for (body, code) in bodies {
                for (body, isTold) in [(body, true), (String(body.dropFirst()), false)] {
                    let answer = try await service.send(
                        "POST",
                        "/api/clear_token",
                        headers: [
                            ("Authorization", tokenHeader(token)),
                            ("Content-Type", "application/x-www-form-urlencoded"),
                        ],
                        body: Data(body.utf8)
                    )
                    #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
                    let hint = answer.json["hint"] as? String
                    #expect((hint?.contains("application/json") == true) == isTold, "\(answer.text)")
                }
            }
            #expect(try await service.list(token: token).status == 200)
        }
    }

    @Test("A forgotten `data` is reported, and invalid parameters of lists with their valid values")
    func records() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let create = try await service.call(
                "POST",
                "/api/records/houses",
                as: ada,
                #"{"address":"12 Rose Street"}"#
            )
            #expect(create.status == 400 && create.message?.contains("data - is missing, and address") == true)
            let other = try await service.call("POST", "/api/records/houses", as: ada, #"{"data":{},"address":"12"}"#)
            #expect(other.message == "address - is unknown,")
            let lists: [(query: String, message: String)] = [
                ("houses?limit=201", "limit - is invalid (a whole number from 1 to 200),"),
                ("houses?order=newest", "where, order - the collection has no index of newest"),
                ("houses?order=-", "order - is invalid (created or an index, with or without -),"),
                (
                    "houses?where=5",
                    "where - is invalid (a JSON object with at most 4 fields, and what each must have),"
                ),
                (#"houses?ids=a&where={"address":"a"}"#, "ids - is invalid (not together with where),"),
                (#"houses?where={"address":5}"#, "where: address - must be a string,"),
                (#"bugs?where={"assignedUser":true}"#, "where: assignedUser - must be a member,"),
            ]
            for (target, message) in lists {
                let escaped = target.replacing("{", with: "%7B").replacing("}", with: "%7D").replacing(
                    "\"",
                    with: "%22"
                )
                let answer = try await service.call("GET", "/api/records/\(escaped)", as: ada)
                #expect(answer.status == 400 && answer.message == message, "\(target) \(answer.text)")
            }
            let changes: [(query: String, message: String)] = [
                ("wait=26", "wait - is invalid (a whole number from 0 to 25),"),
                ("since=x", "since - is invalid (now, or the cursor of an answer),"),
                ("limit=501", "limit - is invalid (a whole number from 1 to 500),"),
            ]
            for (query, message) in changes {
                let answer = try await service.call("GET", "/api/changes?\(query)", as: ada)
                #expect(answer.status == 400 && answer.message == message, "\(query) \(answer.text)")
            }
            let null = try await service.call("GET", "/api/records/bugs?where=%7B%22assignedUser%22:null%7D", as: ada)
            #expect(null.status == 200)
        }
    }

    @Test("If-Match accepts the tag of a compressed answer, and a malformed one is 400")
    func ifMatch() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "x", count: 1_000)
            let body = #"{"data":{"address":"a","comment":"\#(text)"}}"#
            let put = try await service.call(
                "PUT",
                "/api/records/houses/h1",
                as: ada,
                body,
                headers: [
                    ("Accept-Encoding", "gzip")
                ]
            )
            #expect(put.headers["content-encoding"] == "gzip" && put.headers["etag"] == #"W/"1""#)
            let tags: [(tag: String, status: Int)] = [
                (#"W/"1""#, 200), (#""2""#, 200), (#""9", W/"3""#, 200), (#""3""#, 412), (#""""#, 412), (#""x""#, 412),
                (#""+4x""#, 412), ("5", 400), ("4", 400), ("", 400), (",", 400), (#""4", 4"#, 400), (#"W/4"#, 400),
                (#""4"#, 400), (#""4""#, 200), ("*", 200), (#""1", *"#, 200),
            ]
            for (tag, status) in tags {
                let headers = [("If-Match", tag)]
                let answer = try await service.call("PUT", "/api/records/houses/h1", as: ada, body, headers: headers)
                #expect(answer.status == status, "\(tag) \(answer.text)")
                if status == 400 { #expect(answer.code == "if_match_invalid", "\(tag)") }
            }
            let headers = [("If-Match", "1")]
            #expect(try await service.call("DELETE", "/api/records/houses/h1", as: ada, headers: headers).status == 400)
        }
    }

    @Test("A schema that a newer process has applied makes this one unavailable, and is no mistake")
    func newerSchema() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            #expect(try await service.call("GET", "/api/records/houses", as: ada).status == 200)
            try await service.postgres.write(
                """
                INSERT INTO schema_definitions (version, definition)
                SELECT max(version) + 1, '{"collections":{"houses":{"access":"of the future"}}}' FROM schema_definitions
                """
            )
            let headers = [("Authorization", "Bearer \(ada.token)")]
            let answer = try await service.send("GET", "/api/records/houses", headers: headers)
            #expect(answer.status == 503 && answer.code == "service_unavailable", "\(answer.text)")
            #expect(answer.headers["retry-after"] == "5")
        }
    }

    @Test("Refusals of the connection are not cached, like all refusals")
    func connection() async throws {
        try await TestService.run { service in
            try await RawConnection.open(port: service.port) { connection in
                var connection = connection
                try await connection.send("GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n")
                let answer = try await connection.readResponse()
                #expect(answer?.status == 400 && answer?.headers["cache-control"] == "no-store")
            }
            let answer = try await service.send("GET", "/api/nothing")
            #expect(answer.headers["cache-control"] == "no-store")
        }
    }
}
