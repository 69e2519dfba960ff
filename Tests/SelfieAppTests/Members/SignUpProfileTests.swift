import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Sign-up with a profile", .timeLimit(.minutes(2)))
struct SignUpProfileTests {
    private static let email = "ada@example.com"
    private static let fieldsInvalid =
        "fields - is invalid (a JSON object, with at most 30 combining marks in a row),"

    private static func signUp(_ service: TestService, _ parameters: [(String, String)]) async throws -> HTTPAnswer {
        try await service.sendForm(
            "POST",
            "/api/signup",
            authorization: TestService.basic,
            parameters + [("email", email), ("password", try TestService.encrypt("my password"))]
        )
    }

    private static func signUpByJSON(_ service: TestService, _ members: String) async throws -> HTTPAnswer {
        let password = try TestService.encrypt("my password")
        return try await service.send(
            "POST",
            "/api/signup",
            headers: [("Authorization", TestService.basic), ("Content-Type", "application/json")],
            body: Data(#"{\#(members),"email":"\#(email)","password":"\#(password)"}"#.utf8)
        )
    }

    /// First name, last name, title and fields of the one account.
    private static func kept(_ service: TestService) async throws -> [String] {
        let rows = try await service.postgres.read(
            "SELECT first_name, last_name, title, profile::text AS profile FROM users"
        )
        let row = try #require(rows.first)
        return try ["first_name", "last_name", "title", "profile"].map { try row.decode($0, as: String.self) }
    }

    private static let answer = """
        {"first_name":"Ada Augusta","last_name":"King","email":"ada@example.com","api_authtoken":null,"authtoken_expiry":null,"id":"
        """

    @Test("Names, title and fields are taken in a form and in JSON, and the answer stays as it was")
    func taken() async throws {
        for isJSON in [false, true] {
            try await TestService.run { service in
                let made =
                    isJSON
                    ? try await Self.signUpByJSON(
                        service,
                        #""first_name":"Ada Augusta","last_name":"King","title":"Countess","fields":{"a":[1.0,{"b":"é"}]}"#
                    )
                    : try await Self.signUp(
                        service,
                        [
                            ("first_name", " Ada Augusta "), ("last_name", "King"), ("title", " Countess "),
                            ("fields", #" {"a": [1.0, {"b":"é"}]} "#),
                        ]
                    )
                #expect(made.status == 200 && made.text.hasPrefix(Self.answer), "\(made.text)")
                let kept = try await Self.kept(service)
                #expect(kept == ["Ada Augusta", "King", "Countess", #"{"a":[1.0,{"b":"é"}]}"#])
            }
        }
    }

    @Test("In a JSON body, fields may also be a text, and null counts as missing")
    func otherForms() async throws {
        for (members, profile) in [
            (#""full_name":"Ada King","fields":"{\"a\":1}""#, #"{"a":1}"#),
            (#""full_name":"Ada King","fields":null,"title":null"#, "{}"),
            // A full name takes precedence over the other names.
            (#""full_name":"Ada King","first_name":"\u0000","last_name":"""#, "{}"),
        ] {
            try await TestService.run { service in
                let made = try await Self.signUpByJSON(service, members)
                #expect(made.status == 200, "\(made.text)")
                #expect(try await Self.kept(service) == ["Ada", "King", "", profile])
            }
        }
    }

    @Test("An empty array counts as missing, and other arrays and objects in place of a text are refused")
    func structures() async throws {
        try await TestService.run { service in
            for members in [#""full_name":[]"#, #""full_name":null"#, #""first_name":"Ada""#, #""last_name":"K""#] {
                let refused = try await Self.signUpByJSON(service, members)
                #expect(refused.status == 400 && refused.message == Refusal.missing, "\(members)")
            }
            for members in [#""full_name":["Ada King"]"#, #""full_name":{"a":1}"#, #""full_name":"A","title":[1]"#] {
                let refused = try await Self.signUpByJSON(service, members)
                #expect(refused.status == 400 && refused.message?.hasSuffix(" - is invalid,") == true, "\(members)")
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            #expect(try await Self.signUpByJSON(service, #""full_name":"Ada King","title":[]"#).status == 200)
        }
    }

    @Test("Rules have the contract's texts, and all that are broken come together")
    func rules() async throws {
        try await TestService.run { service in
            let long = String(repeating: "x", count: 256)
            for (parameters, message) in [
                (
                    [("first_name", ""), ("last_name", " ")],
                    "first_name - can't be blank,last_name - can't be blank,"
                ),
                (
                    [("first_name", long), ("last_name", "a\u{1}")],
                    "first_name - is too long (maximum is 255 characters),last_name - is invalid,"
                ),
                ([("full_name", "A"), ("title", long)], "title - is too long (maximum is 255 characters),"),
                ([("full_name", "A"), ("title", "a\0")], "title - is invalid,"),
                ([("full_name", "A"), ("fields", "[1]")], Self.fieldsInvalid),
                ([("full_name", "A"), ("fields", "{")], Self.fieldsInvalid),
                ([("full_name", "A"), ("fields", "")], Self.fieldsInvalid),
                (
                    [("full_name", "A"), ("fields", #"{"a":"\u0000"}"#)],
                    "fields - contains U+0000, which can't be stored,"
                ),
                (
                    [("full_name", "A"), ("fields", #"{"a":1e400}"#)],
                    "fields - contains a number that is out of range,"
                ),
                (
                    [("full_name", ""), ("title", "\n\0"), ("fields", "5")],
                    "full_name - can't be blank,title - is invalid,\(Self.fieldsInvalid)"
                ),
            ] {
                let refused = try await Self.signUp(service, parameters)
                #expect(refused.status == 400 && refused.message == message, "\(parameters): \(refused.text)")
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            _ = try await service.signUp(email: Self.email)
            let taken = try await Self.signUp(service, [("full_name", "A"), ("fields", "5")])
            #expect(taken.message == Self.fieldsInvalid)
        }
    }

    @Test("The gallery's sign-up takes a full name only")
    func gallery() async throws {
        try await TestService.run { service in
            let body = "full_name=Ada+King&email=ada%40example.com&password=my+password&title=Countess&fields=5"
            let made = try await service.send(
                "POST",
                "/gallery/signup",
                headers: [("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")],
                body: Data(body.utf8)
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(try await Self.kept(service) == ["Ada", "King", "", "{}"])
        }
    }
}
