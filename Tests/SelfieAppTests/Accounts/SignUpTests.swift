import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Sign-up")
struct SignUpTests {
    private static func scenario(
        _ name: String,
        fullName: String = "Ada Lovelace",
        email: String = "new@example.com",
        password: String,
        message: String
    ) -> Scenario {
        Scenario(
            name,
            "POST /api/signup",
            authorization: TestService.basic,
            .form([("full_name", fullName), ("email", email), ("password", password)]),
            status: 400,
            message: message
        )
    }

    private static let incomplete = [
        [], ["full_name"], ["email"], ["password"], ["full_name", "email"], ["full_name", "password"],
        ["email", "password"],
    ]

    @Test("Missing parameters are reported before any rule")
    func missing() async throws {
        try await TestService.run { service in
            for names in Self.incomplete {
                try await service.check(
                    Scenario(
                        "only \(names)",
                        "POST /api/signup",
                        authorization: TestService.basic,
                        .form(names.map { ($0, "") }),
                        status: 400,
                        message: Refusal.missing
                    )
                )
            }
        }
    }

    @Test("Each rule has its text, and all that are broken come together")
    func rules() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "taken@example.com")
            let good = try TestService.encrypt("my password")
            let short = try TestService.encrypt("12345")
            let long = String(repeating: "x", count: 256)
            let longEmail = String(repeating: "x", count: 244) + "@example.com"
            let nameTooLong = "full_name - is too long (maximum is 255 characters),"
            let emailTooLong = "email - is too long (maximum is 255 characters),"
            let blankEmail = "email - can't be blank,email - is invalid,"
            try await service.check([
                Self.scenario("no name", fullName: "", password: good, message: "full_name - can't be blank,"),
                Self.scenario(
                    "blank name",
                    fullName: " \t\u{3000}",
                    password: good,
                    message: "full_name - can't be blank,"
                ),
                Self.scenario("long name", fullName: long, password: good, message: nameTooLong),
                Self.scenario("long words", fullName: "\(long) b", password: good, message: nameTooLong),
                Self.scenario("NUL in the name", fullName: "A\0da", password: good, message: "full_name - is invalid,"),
                Self.scenario("a notifier", fullName: "A\u{07}da", password: good, message: "full_name - is invalid,"),
                Self.scenario("an escape", fullName: "A\u{1B}[31m", password: good, message: "full_name - is invalid,"),
                Self.scenario("no e-mail", email: "", password: good, message: blankEmail),
                Self.scenario("blank e-mail", email: "  ", password: good, message: blankEmail),
                Self.scenario("long e-mail", email: longEmail, password: good, message: emailTooLong),
                Self.scenario("NUL in the e-mail", email: "a\0@b.c", password: good, message: "email - is invalid,"),
                Self.scenario("taken", email: "taken@example.com", password: good, message: Refusal.emailTaken),
                Self.scenario("in capitals", email: "TAKEN@Example.COM", password: good, message: Refusal.emailTaken),
                Self.scenario("in spaces", email: "  taken@example.com\n", password: good, message: Refusal.emailTaken),
                Self.scenario("short", password: short, message: Refusal.passwordTooShort),
                Self.scenario(
                    "taken and short",
                    email: "taken@example.com",
                    password: short,
                    message: Refusal.passwordTooShort
                ),
                Self.scenario(
                    "invalid and short",
                    email: "nobody",
                    password: short,
                    message: "email - is invalid," + Refusal.passwordTooShort
                ),
                Self.scenario(
                    "everything blank",
                    fullName: "",
                    email: "",
                    password: "",
                    message: "full_name - can't be blank," + blankEmail + Refusal.passwordTooShort
                ),
                Self.scenario(
                    "everything too long",
                    fullName: long,
                    email: longEmail,
                    password: try TestService.encrypt(String(repeating: "x", count: 73)),
                    message: nameTooLong + emailTooLong + Refusal.passwordTooLong
                ),
                Self.scenario(
                    "NUL everywhere",
                    fullName: "\0",
                    email: "a@b\0.c",
                    password: try TestService.encrypt("123456\0"),
                    message: "full_name - is invalid,email - is invalid,password - is invalid,"
                ),
            ])
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
        }
    }

    private static let validEmails = [
        "a@b.c", "first.last@sub.example.co.uk", "a+b@example.com", "a b@example.com", "\"x\"@example.com",
        ".@example.com", "ü@exämple.de", "a@b.c d", "a@-.-", "new\nline@example.com",
    ]
    private static let invalidEmails = [
        "a", "@", "a@", "@b.c", "a@b", "a@b.", "a@.b", "a@b..c", "a@b.c.", "a@@b.c", "a@b@c.d", "a@b.c@", "a.b.c",
        "a@.", "a@..",
    ]

    @Test("The e-mail rule is the original's")
    func emailRule() async throws {
        try await TestService.run { service in
            let short = try TestService.encrypt("12345")
            for email in Self.validEmails {
                // Only the password is invalid, so no hash has to be made.
                try await service.check(
                    Self.scenario("valid: \(email)", email: email, password: short, message: Refusal.passwordTooShort)
                )
            }
            for email in Self.invalidEmails {
                try await service.check(
                    Self.scenario(
                        "invalid: \(email)",
                        email: email,
                        password: short,
                        message: "email - is invalid," + Refusal.passwordTooShort
                    )
                )
            }
        }
    }

    @Test("Values at their limits are accepted", .timeLimit(.minutes(1)))
    func limits() async throws {
        try await TestService.run { service in
            let name = String(repeating: "ü", count: 255)
            let email = String(repeating: "x", count: 243) + "@example.com"
            let accepted = [
                (name, email, "123456"), ("A", "a@b.c", "éééééé"), ("B", "b@b.c", String(repeating: "x", count: 72)),
                ("C", "c@b.c", String(repeating: "é", count: 36)), ("D", "d@b.c", "      "),
                ("E", "e@b.c", "👩‍👩‍👧‍👦"),
            ]
            for (fullName, email, password) in accepted {
                let answer = try await service.signUp(email: email, password: password, fullName: fullName)
                #expect(answer.status == 200, "\(password): \(answer.text)")
                #expect(answer.json["first_name"] as? String == fullName)
                #expect(try await service.signIn(email: email, password: password).status == 200, "\(password)")
            }
            for (password, message) in [
                (String(repeating: "é", count: 36) + "x", Refusal.passwordTooLong), ("ééééé", Refusal.passwordTooShort),
            ] {
                let encrypted = try TestService.encrypt(password)
                try await service.check(Self.scenario(password, password: encrypted, message: message))
            }
        }
    }

    @Test("One word is first and last name in railsauth's answers, and a first name alone for members")
    func oneWord() async throws {
        try await TestService.run(settings: ["DIRECTORY": "members"]) { service in
            let made = try await service.signUp(email: "cher@example.com", fullName: " Cher ")
            let signedIn = try await service.signIn(email: "cher@example.com")
            for answer in [made, signedIn] {
                #expect(answer.json["first_name"] as? String == "Cher" && answer.json["last_name"] as? String == "Cher")
            }
            #expect(signedIn.json.values.allSatisfy { $0 is String } && signedIn.json.count == 6)
            let id = try #require(made.json["id"] as? String)
            #expect(signedIn.json["id"] as? String == id)
            let token = try #require(signedIn.json["api_authtoken"] as? String)
            for path in ["/api/me", "/api/members/\(id)"] {
                let member = try await service.call("GET", path, token: token)
                #expect(member.json["first_name"] as? String == "Cher" && member.json["last_name"] as? String == "")
                #expect(member.json["id"] as? String == id)
            }
            // What was read can be sent back.
            let same = try await service.call(
                "PATCH",
                "/api/me",
                token: token,
                json: #"{"first_name":"Cher","last_name":""}"#
            )
            #expect(same.status == 200, "\(same.text)")
            let found = try await service.call("GET", "/api/members?query=cher", token: token)
            #expect((found.json["members"] as? [[String: Any]])?.count == 1, "\(found.text)")
        }
    }

    @Test("Names are the first and the last word, e-mails lose the space around them and keep their case")
    func normalization() async throws {
        try await TestService.run { service in
            let names = [
                ("Ada", "Ada", "Ada"), ("Ada Lovelace", "Ada", "Lovelace"),
                ("\t  Ada  King\u{2003}Lovelace\n", "Ada", "Lovelace"),
                ("Ada\tMarie\u{2028}Lovelace", "Ada", "Lovelace"), ("Ada\nKing", "Ada", "King"),
                ("\u{3000}李\u{3000}小龍", "李", "小龍"), (#"A"d\a <b>"#, #"A"d\a"#, "<b>"),
            ]
            for (index, (fullName, first, last)) in names.enumerated() {
                let answer = try await service.signUp(email: " \tUser\(index)@Example.COM \n", fullName: fullName)
                let values = try #require(answer.jsonArray == nil ? answer.json : nil)
                #expect(values["first_name"] as? String == first)
                #expect(values["last_name"] as? String == last)
                #expect(values["email"] as? String == "User\(index)@Example.COM")
                #expect(values["api_authtoken"] is NSNull && values["authtoken_expiry"] is NSNull)
                let id = try #require(values["id"] as? String)
                #expect(answer.text.hasSuffix(#""api_authtoken":null,"authtoken_expiry":null,"id":"\#(id)"}"#))
                #expect(
                    try await service.count(
                        "SELECT count(*) FROM users WHERE member_id = \(id) AND first_name = \(first)"
                    ) == 1
                )
            }
            for email in ["user0@example.com", "USER0@EXAMPLE.COM", "  user0@example.com\n"] {
                let answer = try await service.signIn(email: email)
                #expect(answer.json["email"] as? String == "User0@Example.COM", "\(answer.text)")
            }
        }
    }
}
