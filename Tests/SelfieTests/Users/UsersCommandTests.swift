import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie users", .timeLimit(.minutes(3)))
struct UsersCommandTests {
    private static func run(_ service: TestService, _ arguments: [String]) async throws -> ProgramOutcome {
        try await SelfieProcess.run(["users"] + arguments, environment: ["DATABASE_URL": service.databaseURL])
    }

    private static func json(_ outcome: ProgramOutcome) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    }

    private static func lines(_ outcome: ProgramOutcome) -> [[Substring]] {
        outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test("list and show print users, as a table and as JSON")
    func look() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            _ = try await service.upload(token: token)
            _ = try await service.signUp(email: "bob_1@example.com", fullName: "Bob \u{202E}100%")
            // Older versions took control characters, too.
            try await service.postgres.write(
                "UPDATE users SET last_name = U&'\\001B[31m\\202E\\009B100%' WHERE first_name = 'Bob'"
            )
            // Neither what is still on its way nor what has ended is counted.
            try await service.postgres.write(
                "INSERT INTO photos (name, title, random_id, user_id, state) SELECT '', '', 'p', id, 'pending' FROM users LIMIT 1"
            )
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT id, sha256(convert_to(email, 'UTF8')), now() AT TIME ZONE 'UTC' - interval '1 second' FROM users
                """
            )
            let table = Self.lines(try await Self.run(service, ["list"]))
            #expect(table[0] == ["ID", "E-MAIL", "NAME", "CREATED", "PHOTOS", "SESSIONS"])
            #expect(table.count == 3)
            #expect(table[1].contains("ada@example.com") && table[1].suffix(2) == ["1", "1"])
            #expect(table[2].contains("?[31m??100%") && table[2].suffix(2) == ["0", "0"])

            let json = try await Self.run(service, ["list", "--json"]).output
            #expect(json.contains(#""\u001b[31m\u202e\u009b100%""#), "\(json)")
            let all = try #require(try Self.json(try await Self.run(service, ["list", "--json"])) as? [[String: Any]])
            let keys = [
                "id", "member_id", "first_name", "last_name", "title", "email", "email_state", "created_at",
                "disabled_at",
                "photo_count", "record_count",
                "session_count",
            ]
            #expect(all[0]["disabled_at"] is NSNull)
            #expect(all.count == 2 && Set(all[0].keys) == Set(keys))
            #expect((all[0]["created_at"] as? String)?.hasSuffix("Z") == true)
            for (arguments, emails) in [
                (["--matching", "ADA@"], ["ada@example.com"]), (["--matching", "b_1"], ["bob_1@example.com"]),
                (["--matching", "a_a"], []), (["--matching", "0%"], ["bob_1@example.com"]),
                (["--limit", "1"], ["ada@example.com"]),
                (["--after", "\(all[0]["id"] ?? "")"], ["bob_1@example.com"]),
            ] {
                let outcome = try await Self.run(service, ["list", "--json"] + arguments)
                let found = try #require(try Self.json(outcome) as? [[String: Any]])
                #expect(found.map { $0["email"] as? String } == emails, "\(arguments)")
            }
            #expect(
                try await Self.run(service, ["list", "--limit", "1"]).errors.hasSuffix(
                    "--after \(all[0]["id"] ?? "")\n"
                )
            )

            for user in [
                "ada@example.com", " ADA@example.com", "\(all[0]["id"] ?? "")", "\(all[0]["member_id"] ?? "")",
            ] {
                let outcome = try await Self.run(service, ["show", user, "--json"])
                #expect((try Self.json(outcome) as? [String: Any])?["email"] as? String == "ada@example.com")
            }
            try await service.postgres.write("UPDATE users SET title = 'Analyst' WHERE email LIKE 'ada%'")
            let shown = Self.lines(try await Self.run(service, ["show", "ada@example.com"]))
            #expect(shown.contains(["photos", "1"]) && shown.contains(["title", "Analyst"]))
            #expect(shown.contains(["member", "id", "\(all[0]["member_id"] ?? "")"]))
            let history = try await Self.run(service, ["audit", "\(all[0]["member_id"] ?? "")", "--json"])
            #expect((try Self.json(history) as? [[String: Any]])?.isEmpty == false)
            let unknown = try await Self.run(service, ["show", String(repeating: "0", count: 32)])
            #expect(unknown.status != 0 && unknown.errors.contains("There is no user"))
        }
    }

    @Test("disable ends the sessions, enable lets the user sign in again, and both say whether they did anything")
    func disable() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            let url = try #require(try await service.upload(token: token).json["image_url"] as? String)
            #expect(try await service.send("GET", url).status == 200)
            #expect(try await Self.run(service, ["disable", "ada@example.com"]).output.hasSuffix("is disabled now.\n"))
            #expect(try await service.list(token: token).status == 401)
            #expect(try await service.signIn(email: "ada@example.com").status == 403)
            #expect(try await service.send("GET", url).status == 404)
            #expect(Self.lines(try await Self.run(service, ["list"]))[1].contains("disabled"))
            let again = try await Self.run(service, ["disable", "ada@example.com", "--json"])
            #expect((try Self.json(again) as? [String: Any])?["is_changed"] as? Bool == false)
            #expect(try await Self.run(service, ["enable", "ada@example.com"]).output.hasSuffix("is enabled now.\n"))
            #expect(try await Self.run(service, ["enable", "ada@example.com"]).output.hasSuffix("was not disabled.\n"))
            #expect(try await service.list(token: token).status == 401, "an ended session does not begin again")
            let signIn = try await service.signIn(email: "ada@example.com")
            let new = try #require(signIn.json["api_authtoken"] as? String)
            #expect(try await service.send("GET", url).status == 403, "nor does a URL")
            let newURL = try #require(try await service.list(token: new).jsonArray?.first?["image_url"] as? String)
            #expect(try await service.send("GET", newURL).status == 200)
            let audit = try Self.json(try await Self.run(service, ["audit", "--json"])) as? [[String: Any]]
            // Each once, since what changed nothing is no event.
            #expect(
                audit?.reversed().map { $0["event"] as? String } == [
                    "sign_up", "sign_in", "account_disabled", "sign_in_failed", "account_enabled", "sign_in",
                ]
            )
        }
    }

    private static func run(_ service: TestService, _ arguments: [String], input: String) async throws -> ProgramOutcome
    {
        try await SelfieProcess.run(
            ["users"] + arguments,
            environment: ["DATABASE_URL": service.databaseURL, "PASSWORD_HASH_COST": "10"],
            input: input
        )
    }

    @Test("password sets a new password, and ends all sessions; email changes the e-mail")
    func recovery() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            _ = try await service.signUp(email: "bob@example.com")
            for (input, error) in [
                ("12345\n", "A password has at least 6 characters and at most 72 bytes."),
                ("", "There is no password on standard input."),
                (
                    String(repeating: "x", count: 73) + "\n",
                    "A password has at least 6 characters and at most 72 bytes."
                ),
            ] {
                let outcome = try await Self.run(service, ["password", "ada@example.com"], input: input)
                #expect(outcome.status == 1 && outcome.errors == "Error: \(error)\n", "\(outcome)")
            }
            #expect(try await service.list(token: token).status == 200)
            let typed = try await Self.run(service, ["password", "ada@example.com"], input: "the new one\n")
            #expect(typed.status == 0 && typed.output.contains("All sessions have ended."), "\(typed)")
            #expect(!typed.output.contains("the new one"))
            #expect(try await service.list(token: token).status == 401)
            #expect(try await service.signIn(email: "ada@example.com").status == 401)
            #expect(try await service.signIn(email: "ada@example.com", password: "the new one").status == 200)

            let made = try await Self.run(service, ["password", "ada@example.com", "--generate", "--json"])
            let password = try #require((try Self.json(made) as? [String: Any])?["password"] as? String)
            #expect(password.count == 20)
            #expect(try await service.signIn(email: "ada@example.com", password: password).status == 200)

            for (email, error) in [
                ("BOB@example.com", "Another account has this e-mail."),
                ("nobody", "This is not an e-mail address; expected name@example.com."),
            ] {
                let outcome = try await Self.run(service, ["email", "ada@example.com", email])
                #expect(outcome.status == 1 && outcome.errors == "Error: \(error)\n", "\(outcome)")
            }
            let changed = try await Self.run(service, ["email", "ada@example.com", " countess@example.com "])
            #expect(changed.status == 0 && changed.output.contains("countess@example.com"), "\(changed)")
            #expect(try await service.signIn(email: "ada@example.com", password: password).status == 401)
            #expect(try await service.signIn(email: "countess@example.com", password: password).status == 200)
            let audit =
                try Self.json(try await Self.run(service, ["audit", "countess@example.com", "--json"]))
                as? [[String: Any]]
            let events = audit?.compactMap { $0["event"] as? String } ?? []
            #expect(events.filter { $0 == "password_replaced" }.count == 2 && events.contains("email_changed"))
        }
    }

    @Test("password asks twice on a terminal, shows nothing of it, and changes nothing when the two differ")
    func typedPassword() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            let url = try #require(try await service.upload(token: token).json["image_url"] as? String)
            for (again, status) in [("another one", Int32(1)), ("the new one", 0)] {
                let outcome = try await TerminalProcess.run(
                    ["users", "password", "ada@example.com"],
                    environment: ["DATABASE_URL": service.databaseURL],
                    typing: "the new one",
                    then: [(question: "Again: ", line: again)],
                    after: "New password: "
                )
                #expect(outcome.status == status && outcome.showsTyping && !outcome.echo.contains("one"), "\(again)")
                if status == 1 {
                    #expect(outcome.errors.hasSuffix("Error: The two passwords differ. Nothing was changed.\n"))
                    #expect(try await service.list(token: token).status == 200)
                    #expect(try await service.send("GET", url).status == 200)
                }
            }
            #expect(try await service.list(token: token).status == 401)
            #expect(try await service.send("GET", url).status == 403)
            #expect(try await service.count("SELECT count(*) FROM known_addresses") == 0)
            #expect(try await service.signIn(email: "ada@example.com", password: "the new one").status == 200)
            // Without a user, nothing is asked.
            let nobody = try await TerminalProcess.run(
                ["users", "password", "nobody@example.com"],
                environment: ["DATABASE_URL": service.databaseURL]
            )
            #expect(nobody.status == 1 && nobody.errors == "Error: There is no user nobody@example.com.\n")
        }
    }

    @Test("quota shows what a user has and may have, and sets it for that user alone")
    func quota() async throws {
        try await ServedSelfie.run(settings: ["PHOTOS_PER_USER_MAX": "1"]) { served in
            let service = served.service
            let token = try await service.makeToken()
            let other = try await service.makeToken(email: "bob@example.com")
            for token in [token, other] { #expect(try await service.upload(token: token).status == 200) }
            #expect(try await service.upload(token: token).status == 403)
            let quota = { (options: [String]) in
                try await Self.run(service, ["quota", "ada@example.com"] + options)
            }
            // The command reads the settings of its own environment.
            #expect(
                Self.lines(try await quota([])) == [
                    ["HAS", "MAY", "HAVE"], ["photos", "1", "10000", "as", "all", "users"],
                    ["bytes", "\(TestImage.jpeg.count)", "10737418240", "as", "all", "users"],
                ]
            )
            let set = try #require(
                try Self.json(try await quota(["--photos", "2", "--storage", "1000000", "--json"])) as? [String: Any]
            )
            #expect(set["is_changed"] as? Bool == true)
            #expect((set["photos"] as? [String: Any])?["may_have"] as? Int == 2)
            #expect((set["bytes"] as? [String: Any])?["is_usual"] as? Bool == false)
            #expect(try await service.upload(token: token).status == 200)
            #expect(try await service.upload(token: token).status == 403)
            #expect(try await service.upload(token: other).status == 403)

            // What is not named stays, and what is there already is no change.
            let again = try #require(
                try Self.json(try await quota(["--photos", "2", "--json"])) as? [String: Any]
            )
            #expect(again["is_changed"] as? Bool == false)
            #expect((again["bytes"] as? [String: Any])?["may_have"] as? Int == 1_000_000)
            #expect(
                Self.lines(try await quota(["--photos", "usual", "--storage", "0"])).dropFirst() == [
                    ["photos", "2", "10000", "as", "all", "users"],
                    ["bytes", "\(2 * TestImage.jpeg.count)", "0", "set", "for", "this", "user"],
                ]
            )
            for options in [
                ["--photos", "many"], ["--photos", "-1"], ["--photos", "1000001"], ["--storage", "1.5"],
            ] {
                #expect(try await quota(options).status == 64, "\(options)")
            }
            #expect(try await Self.run(service, ["quota", "eve@example.com"]).status == 1)
            let audit = try Self.json(try await Self.run(service, ["audit", "ada@example.com", "--json"]))
            let events = (audit as? [[String: Any]])?.compactMap { $0["event"] as? String }
            #expect(events?.filter { $0 == "quota_changed" }.count == 2)
        }
    }

    @Test("sessions and audit print the history, the audit by id also of deleted users")
    func history() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            _ = try await service.signUp(email: "ada@example.com")
            let answer = try await service.signIn(
                email: "ada@example.com",
                headers: [("User-Agent", "Selfie/1.0"), ("X-Request-Id", "my-id")]
            )
            let token = try #require(answer.json["api_authtoken"] as? String)
            let sessions = try #require(
                try Self.json(try await Self.run(service, ["sessions", "ada@example.com", "--json"]))
                    as? [[String: Any]]
            )
            #expect(sessions.count == 1 && sessions[0]["device"] as? String == "Selfie/1.0")
            let table = try await Self.run(service, ["sessions", "ada@example.com"])
            #expect(Self.lines(table)[1].last == "Selfie/1.0")
            #expect(!table.output.contains(token))
            try await service.postgres.write("UPDATE sessions SET device = NULL")
            let unnamed = try await Self.run(service, ["sessions", "ada@example.com", "--json"])
            #expect((try Self.json(unnamed) as? [[String: Any]])?[0]["device"] is NSNull)

            let id = try await service.count("SELECT id::bigint AS count FROM users")
            let before = try await Self.run(service, ["audit", "ada@example.com", "--json"])
            let signIn = try #require((try Self.json(before) as? [[String: Any]])?.first)
            #expect(signIn["request_id"] as? String == "my-id" && signIn["address"] as? String == "127.0.0.1")
            #expect(try await Self.run(service, ["delete", "\(id)", "--yes"]).status == 0)
            #expect(try await service.list(token: token).status == 401)
            let audit = try #require(
                try Self.json(try await Self.run(service, ["audit", "\(id)", "--json"])) as? [[String: Any]]
            )
            #expect(audit.map { $0["event"] as? String } == ["account_deleted", "sign_in", "sign_up"])
            #expect(audit[1]["user_id"] as? Int == id)
            #expect(audit.allSatisfy { $0["address"] is NSNull && $0["request_id"] is NSNull })
            let page = try await Self.run(service, ["audit", "--limit", "2"])
            let next = try #require(page.errors.firstMatch(of: /There may be more: --before (\d+)\n$/)?.output.1)
            #expect(Self.lines(page).dropFirst().prefix(2).map { $0[3] } == ["account_deleted", "sign_in"])
            let rest = try await Self.run(service, ["audit", "--limit", "2", "--before", String(next)])
            #expect(Self.lines(rest).dropFirst().map { $0[3] } == ["sign_up"])
        }
    }

    @Test("delete asks first, and without a terminal wants --yes; the service deletes the objects")
    func delete() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            let token = try await service.makeToken()
            _ = try await service.upload(token: token)
            let unasked = try await Self.run(service, ["delete", "ada@example.com"])
            #expect(unasked.status != 0 && unasked.errors.contains("--yes"))
            #expect(try await service.list(token: token).status == 200)
            for answer in ["n", "", "no", "yes please"] {
                let asked = try await TerminalProcess.run(
                    ["users", "delete", "ada@example.com"],
                    environment: ["DATABASE_URL": service.databaseURL],
                    typing: answer
                )
                #expect(asked.status == 1 && asked.output.isEmpty, "\(answer)")
                #expect(asked.errors.hasPrefix("Delete ada@example.com (1) and 1 photo permanently? [y/N] "))
                #expect(asked.errors.hasSuffix("Nothing was deleted.\n"))
            }
            #expect(try await service.list(token: token).jsonArray?.count == 1)
            let outcome = try await TerminalProcess.run(
                ["users", "delete", "ada@example.com"],
                environment: ["DATABASE_URL": service.databaseURL],
                typing: "Y"
            )
            #expect(outcome.output.contains("is deleted, with 1 photo."))
            try await poll("the object is gone") { service.objects.keys().isEmpty }
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("Unknown users and invalid arguments are reported in one line, with an exit status")
    func refusals() async throws {
        try await ServedSelfie.run { served in
            for command in ["show", "disable", "enable", "sessions"] {
                for user in ["nobody@example.com", "4711", "99999999999"] {
                    let outcome = try await Self.run(served.service, [command, user])
                    #expect(outcome.status == 1)
                    #expect(outcome.errors == "Error: There is no user \(user).\n")
                }
            }
            for arguments in [
                ["show"], ["show", "ada"], ["show", "0"], ["show", "-1"], ["list", "--limit", "0"],
                ["list", "--limit", "10001"], ["list", "--after", "x"], ["audit", "ada"], ["audit", "--limit", "0"],
            ] {
                let outcome = try await Self.run(served.service, arguments)
                #expect(outcome.status != 0 && outcome.output.isEmpty && outcome.errors.contains("Usage: selfie users"))
            }
            let down = try await SelfieProcess.run(
                ["users", "list"],
                environment: ["DATABASE_URL": "postgresql://nobody:hidden-password@127.0.0.1:1/none"]
            )
            #expect(down.status == 1)
            #expect(down.errors == "Error: The database can't be reached. Run selfie doctor to see why.\n")
        }
        try await TestCluster.withEmptyDatabase { url in
            let outcome = try await SelfieProcess.run(
                ["users", "list"],
                environment: ["DATABASE_URL": url]
            )
            #expect(outcome.errors == "Error: The database lacks migrations. Run: selfie migrate\n")
        }
    }
}
