import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie schema and selfie roles", .timeLimit(.minutes(3)))
struct SchemaCommandTests {
    private static func run(_ service: TestService, _ arguments: [String]) async throws -> ProgramOutcome {
        try await SelfieProcess.run(arguments, environment: ["DATABASE_URL": service.databaseURL])
    }

    private static let example = ProjectFolder.root.appending(path: "docs/examples/schema.json")

    @Test("apply shows the plan, applies it once, and takes again what show prints")
    func apply() async throws {
        try await TestService.run { service in
            try await TemporaryFolder.with { folder in
                let dry = try await Self.run(service, ["schema", "apply", "--dry-run", Self.example.path])
                #expect(dry.status == 0 && dry.output.hasPrefix("This would change:\n  add the role leads"), "\(dry)")
                let none = try await Self.run(service, ["schema", "show"])
                #expect(none.output.filter { !$0.isWhitespace } == #"{"roles":{},"collections":{}}"#)
                let first = try await Self.run(service, ["schema", "apply", Self.example.path])
                #expect(first.status == 0 && first.output.hasSuffix("Applied.\n"), "\(first)")
                #expect(first.output.contains("  add the collection bugs (shared, role team)\n"))
                let again = try await Self.run(service, ["schema", "apply", Self.example.path])
                #expect(again.output == "The schema is up to date.\n")
                let shown = try await Self.run(service, ["schema", "show"])
                let path = folder.appending(path: "shown.json")
                try Data(shown.output.utf8).write(to: path)
                let round = try await Self.run(service, ["schema", "apply", path.path])
                #expect(round.output == "The schema is up to date.\n", "\(round)")
            }
        }
    }

    @Test("Losing data needs --force, impossible changes are refused, and a wrong file names line and key")
    func refusals() async throws {
        try await TestService.run { service in
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "schema.json")
                func apply(_ text: String, _ options: [String] = []) async throws -> ProgramOutcome {
                    try Data(text.utf8).write(to: path)
                    return try await Self.run(service, ["schema", "apply", path.path] + options)
                }
                let both = #"{"collections": {"a": {"access": "inbox"}, "b": {"access": "acl"}}}"#
                #expect(try await apply(both).status == 0)
                let refused = try await apply(#"{"collections": {"a": {"access": "acl"}, "b": {"access": "acl"}}}"#)
                #expect(refused.status != 0 && refused.output.contains("refused: change the access of a"))
                let lossy = try await apply(#"{"collections": {"a": {"access": "inbox"}}}"#)
                #expect(lossy.status != 0 && lossy.output.contains("loses data: remove the collection b"))
                #expect(lossy.errors.contains("--force"))
                #expect(try await Self.run(service, ["schema", "show"]).output.contains("\"b\""))
                #expect(try await apply(#"{"collections": {"a": {"access": "inbox"}}}"#, ["--force"]).status == 0)
                #expect(try await Self.run(service, ["schema", "show"]).output.contains("\"b\"") == false)
                let wrong = try await apply("{\n  \"collections\": {\"c\": {\"access\": \"secret\"}}\n}")
                #expect(wrong.status != 0)
                #expect(wrong.errors.contains("schema.json:2: collections.c.access"), "\(wrong)")
                let large = try await apply("{}" + String(repeating: " ", count: 1 << 20))
                #expect(large.status != 0 && large.errors.contains("has more than 1048576 bytes."), "\(large)")
                let missing = try await Self.run(service, ["schema", "apply", "/nowhere.json"])
                #expect(missing.status != 0 && missing.errors.contains("/nowhere.json can't be read."))
            }
        }
    }

    @Test("What shows records to more people needs --force, and the numbers of records and people come first")
    func widening() async throws {
        try await TestService.run { service in
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "schema.json")
                func apply(_ access: String, _ options: [String] = []) async throws -> ProgramOutcome {
                    let text = #"{"collections": {"notes": {"access": "\#(access)"}}}"#
                    try Data(text.utf8).write(to: path)
                    return try await Self.run(service, ["schema", "apply", path.path] + options)
                }
                #expect(try await apply("private").status == 0)
                // Where there is no record, nothing is shown.
                #expect(try await apply("published").status == 0)
                #expect(try await apply("private").status == 0)
                let ada = try await service.addMember("ada")
                _ = try await service.addMember("eve")
                for id in ["n1", "n2"] {
                    let made = try await service.call("PUT", "/api/records/notes/\(id)", as: ada, #"{"data":{}}"#)
                    #expect(made.status == 200, "\(made.text)")
                }
                let line =
                    "  shows more: change the access of notes from private to published (2 records to 2 more people)\n"
                let dry = try await apply("published", ["--dry-run"])
                #expect(dry.status == 0 && dry.output == "This would change:\n\(line)", "\(dry)")
                let refused = try await apply("published")
                #expect(refused.status == 1 && refused.output == "Changes:\n\(line)", "\(refused)")
                #expect(refused.errors == "Nothing was changed. To show more, add --force.\n")
                #expect(try await Self.run(service, ["schema", "show"]).output.contains("private"))
                #expect(try await apply("published", ["--force"]).status == 0)
                #expect(try await Self.run(service, ["schema", "show"]).output.contains("published"))
            }
        }
    }

    @Test("A dry run shows how many records are deleted, and how many break the new rules")
    func dryRun() async throws {
        try await TestService.run { service in
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "schema.json")
                func apply(_ collections: String, _ options: [String] = []) async throws -> ProgramOutcome {
                    try Data("{\"collections\":{\(collections)}}".utf8).write(to: path)
                    return try await Self.run(service, ["schema", "apply", path.path] + options)
                }
                func notes(_ max: Int) -> String {
                    #""notes":{"access":"private","fields":{"text":{"type":"string","max":\#(max)}}}"#
                }
                #expect(try await apply(notes(2_000) + #","old":{"access":"private"}"#).status == 0)
                let ada = try await service.addMember("ada")
                for (path, text) in [
                    ("notes/n1", "short"), ("notes/n2", "longer"), ("notes/n3", "longest"), ("old/o", ""),
                ] {
                    let made = try await service.call(
                        "PUT",
                        "/api/records/\(path)",
                        as: ada,
                        #"{"data":{"text":"\#(text)"}}"#
                    )
                    #expect(made.status == 200, "\(made.text)")
                }
                let dry = try await apply(notes(5), ["--dry-run"])
                #expect(dry.status == 0)
                #expect(
                    dry.output == """
                        This would change:
                          change the field text of notes: max 2000 -> 5
                          loses data: remove the collection old with all its records (1 record)

                        """
                )
                let misfits =
                    "2 records of notes do not keep to the new rules. They stay until somebody changes them.\n"
                #expect(dry.errors == misfits)
                let real = try await apply(notes(5), ["--force"])
                #expect(real.status == 0 && real.errors == misfits)
            }
        }
    }

    /// Looks at roles, then changes one, with a mark behind each.
    private static func lookAndChange(_ service: TestService) async throws {
        for (mark, commands) in [
            ("u998", [["roles", "list"], ["schema", "show"], ["schema", "apply", example.path]]),
            ("u999", [["roles", "add", "team", "ada@example.com"]]),
        ] {
            for command in commands {
                let outcome = try await run(service, command)
                #expect(outcome.status == 0, "\(outcome)")
            }
            try await service.postgres.write("SELECT pg_notify('selfie_changes', \(mark))")
        }
    }

    /// The notifications, up to the last mark.
    private static func notifications(by service: TestService) async throws -> [String] {
        var payloads: [String] = []
        for await event in service.postgres.listen(to: "selfie_changes") {
            switch event {
            case .mayHaveMissed: try await lookAndChange(service)
            case .notification(let notification): payloads.append(notification.payload)
            }
            if payloads.last == "u999" { break }
        }
        return payloads
    }

    @Test("Listing roles notifies no reader, changing them does")
    func notifications() async throws {
        try await TestService.runWithSchema { service in
            _ = try await service.addMember("ada")
            let notifications = try await Self.notifications(by: service)
            #expect(notifications == ["u998", "*", "u999"])
        }
    }

    @Test("Roles are given, listed, switched off and on, and taken, and the audit knows")
    func roles() async throws {
        try await TestService.runWithSchema(settings: [:]) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let steps: [([String], String)] = [
                (["add", "team", "ada@example.com"], "ada@example.com has the role team now.\n"),
                (["add", "team", "ADA@example.com"], "ADA@example.com has the role team already.\n"),
                (["disable", "team"], "The role team is disabled now.\n"),
                (["disable", "team"], "The role team is disabled already.\n"),
                (["enable", "team"], "The role team is enabled now.\n"),
            ]
            for (arguments, output) in steps {
                let outcome = try await Self.run(service, ["roles"] + arguments)
                #expect(outcome.status == 0 && outcome.output == output, "\(outcome)")
            }
            let list = try await Self.run(service, ["roles", "list"]).output.split(separator: "\n")
            #expect(list.last?.split(separator: " ") == ["team", "1"])
            #expect(try await Self.run(service, ["roles", "list", "team"]).output.contains("ada@example.com"))
            let removed = try await Self.run(service, ["roles", "remove", "team", "ada@example.com"])
            #expect(removed.output == "ada@example.com no longer has the role team.\n")
            for arguments in [["add", "nothing", "ada@example.com"], ["disable", "nothing"], ["list", "nothing"]] {
                let outcome = try await Self.run(service, ["roles"] + arguments)
                let error = "Error: There is no role nothing. The schema file defines the roles.\n"
                #expect(outcome.status == 1 && outcome.errors == error, "\(outcome)")
            }
            let nobody = try await Self.run(service, ["roles", "add", "team", "eve@example.com"])
            #expect(nobody.status != 0 && nobody.errors.contains("There is no user eve@example.com."))
            let events = try await Self.run(service, ["users", "audit", "ada@example.com"]).output
            #expect(events.contains("role_added") && events.contains("role_removed"))
        }
    }
}
