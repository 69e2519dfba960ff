import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Parameters")
struct ParametersTests {
    @Test("They come from the query and every kind of body, on every method", .timeLimit(.minutes(2)))
    func sources() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let credentials = [("email", "ada@example.com"), ("password", try TestService.encrypt("my password"))]
            let query = Scenario.Payload.formText(credentials)
            for request in ["POST /api/signin", "GET /api/get_token"] {
                let inQuery = Scenario("query", "\(request)?\(query)", authorization: TestService.basic)
                let inBody = Scenario.Payload.allForms(of: credentials).map { name, payload in
                    Scenario("\(request) with \(name)", request, authorization: TestService.basic, payload)
                }
                try await service.check(inBody + [inQuery])
            }
            for (name, payload) in Scenario.Payload.allForms(of: [("photo_id", "PHOTO"), ("more", "ignored")]) {
                let randomID = try await service.uploadPhoto(token: token)
                let (contentType, body) = try #require(payload.encoded)
                let text = String(decoding: body, as: UTF8.self).replacing("PHOTO", with: randomID)
                try await service.check(
                    Scenario(
                        "DELETE with \(name)",
                        "DELETE /api/delete_photo",
                        authorization: tokenHeader(token),
                        .raw(contentType: contentType, Data(text.utf8)),
                        message: "Image deleted"
                    )
                )
            }
            let randomID = try await service.uploadPhoto(token: token)
            try await service.check(
                Scenario(
                    "DELETE with a query",
                    "DELETE /api/delete_photo?photo_id=\(randomID)",
                    authorization: tokenHeader(token),
                    message: "Image deleted"
                )
            )
            #expect(service.objects.keys().isEmpty)
        }
    }

    @Test("The password that an account is deleted with comes from each of them")
    func deletion() async throws {
        try await TestService.run { service in
            let parameters = [("password", try TestService.encrypt("my password"))]
            let inQuery = ("the query", "?\(Scenario.Payload.formText(parameters))", Scenario.Payload.none)
            let inBody = Scenario.Payload.allForms(of: parameters).map { ($0.name, "", $0.payload) }
            for (name, query, payload) in inBody + [inQuery] {
                let token = try await service.makeToken()
                try await service.check(
                    Scenario(
                        "DELETE with \(name)",
                        "DELETE /api/account\(query)",
                        authorization: tokenHeader(token),
                        payload,
                        message: "Account deleted"
                    )
                )
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("So does the label of a session, at each call that begins one")
    func device() async throws {
        try await TestService.run { service in
            var token = try await service.makeToken()
            let password = try TestService.encrypt("my password")
            let parameters = [
                ("email", "ada@example.com"), ("password", password), ("old_password", password),
                ("new_password", password), ("device", "my \"phone\""),
            ]
            for request in ["POST /api/signin", "GET /api/get_token", "POST /api/reset_password"] {
                for (name, payload) in Scenario.Payload.allForms(of: parameters) {
                    let isReset = request.contains("reset")
                    let answer = try await service.check(
                        Scenario(
                            "\(request) with \(name)",
                            request,
                            authorization: isReset ? tokenHeader(token) : TestService.basic,
                            headers: [("User-Agent", "another")],
                            payload
                        )
                    )
                    token = try #require(answer.json["api_authtoken"] as? String)
                    let headers = [("Authorization", tokenHeader(token))]
                    let sessions = try await service.send("GET", "/api/sessions", headers: headers).jsonArray
                    let own = sessions?.first { $0["current"] as? Bool == true }
                    #expect(own?["device"] as? String == "my \"phone\"", "\(request) with \(name)")
                }
            }
        }
    }

    /// Each is sent as `DELETE /api/delete_photo` with a photo's id in place of `PHOTO`: it must be deleted.
    private static let found: [(name: String, query: String, payload: Scenario.Payload)] = [
        ("The query wins over a form", "?photo_id=PHOTO", .form([("photo_id", "other")])),
        ("The query wins over JSON", "?photo_id=PHOTO", .json(#"{"photo_id":"other"}"#)),
        ("The query wins over multipart", "?photo_id=PHOTO", .multipart([("photo_id", "other")])),
        ("Of a query's duplicates the last wins", "?photo_id=other&photo_id=PHOTO", .none),
        ("Of a form's duplicates the last wins", "", .form([("photo_id", "other"), ("photo_id", "PHOTO")])),
        ("Of JSON's duplicates the last wins", "", .json(#"{"photo_id":"other","a":1,"photo_id":"PHOTO"}"#)),
        ("Of JSON's duplicates a text after null wins", "", .json(#"{"photo_id":null,"photo_id":"PHOTO"}"#)),
        (
            "Of multipart's duplicates the last wins", "",
            .multipart([("photo_id", "other"), ("photo_id", "PHOTO")])
        ),
        ("Unknown ones are ignored", "?a=1&&=&b[]=2", .json(#"{"x":{"photo_id":1},"photo_id":"PHOTO","y":[1]}"#)),
        ("Escapes are decoded", "?%70hoto_i%64=PHOTO", .none),
        ("JSON's escapes are decoded", "", .json(#"{"photo_\u0069d":"PHOTO"}"#)),
        ("JSON may have white space and a byte order mark", "", .json("\u{FEFF} {\n\t\"photo_id\" : \"PHOTO\" }\n")),
    ]

    /// Each is sent likewise, and must be refused with this status and message.
    private static let refused:
        [(name: String, query: String, payload: Scenario.Payload, status: Int, message: String)] = [
            ("The query wins", "?photo_id=other", .form([("photo_id", "PHOTO")]), 401, Refusal.photo),
            ("The query wins over JSON", "?photo_id=", .json(#"{"photo_id":"PHOTO"}"#), 401, Refusal.photo),
            ("The last wins", "?photo_id=PHOTO&photo_id=other", .none, 401, Refusal.photo),
            ("The last wins in JSON", "", .json(#"{"photo_id":"PHOTO","photo_id":"other"}"#), 401, Refusal.photo),
            ("The last null in JSON", "", .json(#"{"photo_id":"PHOTO","photo_id":null}"#), 400, Refusal.missing),
            ("Names have a case", "?Photo_ID=PHOTO", .none, 400, Refusal.missing),
            ("Absent", "", .none, 400, Refusal.missing),
            ("null", "", .json(#"{"photo_id":null}"#), 400, Refusal.missing),
            ("[]", "", .json(#"{"photo_id":[]}"#), 400, Refusal.missing),
            ("An empty object", "", .json("{}"), 400, Refusal.missing),
            ("An empty JSON body", "", .json(""), 400, Refusal.missing),
            ("JSON that is an array", "", .json(#"["photo_id"]"#), 400, Refusal.missing),
            ("JSON that is a text", "", .json(#""photo_id""#), 400, Refusal.missing),
            ("A name without a value, in the query", "?photo_id", .none, 400, Refusal.missing),
            (
                "A name without a value, in a form", "", .raw(contentType: form, Data("photo_id".utf8)), 400,
                Refusal.missing
            ),
            (
                "A body of another type", "", .raw(contentType: "text/plain", Data("photo_id=PHOTO".utf8)), 400,
                Refusal.missing
            ),
            ("Empty, in the query", "?photo_id=", .none, 401, Refusal.photo),
            ("Empty, in JSON", "", .json(#"{"photo_id":""}"#), 401, Refusal.photo),
            ("Empty, in a form", "", .form([("photo_id", "")]), 401, Refusal.photo),
            ("Empty, in multipart", "", .multipart([("photo_id", "")]), 401, Refusal.photo),
            ("NUL", "?photo_id=PHOTO%00", .none, 401, Refusal.photo),
            ("A number", "", .json(#"{"photo_id":12}"#), 401, Refusal.photo),
            ("Broken JSON", "", .json(#"{"photo_id":"PHOTO""#), 400, "The request's JSON is malformed"),
            (
                "Broken escapes", "", .raw(contentType: form, Data("photo_id=%F".utf8)), 400,
                "The request's parameters are malformed"
            ),
            ("A query that is not UTF-8", "?photo_id=%FF", .none, 400, "The request's parameters are malformed"),
            (
                "A form that is not UTF-8", "", .raw(contentType: form, Data("photo_id=%C3".utf8)), 400,
                "The request's parameters are malformed"
            ),
            (
                "JSON that is not UTF-8", "", .raw(contentType: "application/json", Data([0x22, 0xFF, 0x22])), 400,
                "The request's JSON is malformed"
            ),
            (
                "Multipart without a boundary", "", .raw(contentType: "multipart/form-data", Data("x".utf8)), 400,
                "The request's multipart body is malformed"
            ),
        ]

    private static let form = "application/x-www-form-urlencoded"

    @Test("Which of several values counts, and which count as missing", .timeLimit(.minutes(2)))
    func precedence() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for (name, query, payload) in Self.found {
                let randomID = try await service.uploadPhoto(token: token)
                try await service.check(
                    Self.scenario(name, query, payload, randomID, token, status: 200, message: "Image deleted")
                )
            }
            let randomID = try await service.uploadPhoto(token: token)
            for (name, query, payload, status, message) in Self.refused {
                try await service.check(
                    Self.scenario(name, query, payload, randomID, token, status: status, message: message)
                )
            }
            #expect(service.objects.keys() == [randomID])
        }
    }

    private static func scenario(
        _ name: String,
        _ query: String,
        _ payload: Scenario.Payload,
        _ randomID: String,
        _ token: String,
        status: Int,
        message: String
    ) -> Scenario {
        var filled = payload
        if let (contentType, body) = payload.encoded, let text = String(data: body, encoding: .utf8) {
            filled = .raw(contentType: contentType, Data(text.replacing("PHOTO", with: randomID).utf8))
        }
        return Scenario(
            name,
            "DELETE /api/delete_photo" + query.replacing("PHOTO", with: randomID),
            authorization: tokenHeader(token),
            filled,
            status: status,
            message: message
        )
    }

    @Test("The most parameters and the largest body are taken, and one more is not")
    func limits() async throws {
        try await TestService.run { service in
            let authorization = TestService.basic
            let missing = { (name: String, payload: Scenario.Payload, status: Int, message: String) in
                Scenario(
                    name,
                    "POST /api/signin",
                    authorization: authorization,
                    payload,
                    status: status,
                    message: message
                )
            }
            let pairs = { (count: Int) in Scenario.Payload.form((0..<count).map { ("a\($0)", "") }) }
            let json = { (count: Int) in
                Scenario.Payload.json(#"{"a":"\#(String(repeating: "x", count: count - 8))"}"#)
            }
            try await service.check([
                missing("256 pairs", pairs(256), 400, Refusal.missing),
                missing("257 pairs", pairs(257), 400, "The request has too many parameters"),
                missing("16 KiB", json(16 * 1024), 400, Refusal.missing),
                missing(
                    "16 KiB and one byte",
                    json(16 * 1024 + 1),
                    413,
                    "The request is too large (maximum is 16384 bytes)"
                ),
            ])
        }
    }
}
