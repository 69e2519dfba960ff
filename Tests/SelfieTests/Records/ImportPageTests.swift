import DatabaseTestSupport
import Foundation
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The pages about imports", .timeLimit(.minutes(2)))
struct ImportPageTests {
    /// A page, the files that its line of jq takes, and the lines that it makes.
    struct Page: Sendable, CustomTestStringConvertible {
        let name: String
        let files: [String: String]
        let lines: [String]

        var testDescription: String { name }
    }

    private static let pages = [
        Page(
            name: "firestore",
            files: [
                "users.json":
                    #"{"users":[{"localId":"u1","email":"ada@example.com"},{"localId":"u2","email":"bob@example.com"}]}"#,
                "firestore.json": #"""
                {"__collections__":{"bugs":{
                    "b1":{"uid":"u1","title":"Crash","priority":{"__datatype__":"documentReference","value":"priorities/high"},
                        "due":{"__datatype__":"timestamp","value":{"_seconds":1425204000,"_nanoseconds":0}},
                        "createdAt":{"__datatype__":"timestamp","value":{"_seconds":1425204000,"_nanoseconds":5}},
                        "__collections__":{}},
                    "b2":{"uid":"u2","title":"Slow","__collections__":{}}}}}
                """#,
            ],
            lines: [
                #"{"id":"b1","collection":"bugs","owner":"ada@example.com","data":{"title":"Crash","priority":"high","due":"2015-03-01T10:00:00Z"},"created_at":"2015-03-01T10:00:00Z"}"#,
                #"{"id":"b2","collection":"bugs","owner":"bob@example.com","data":{"title":"Slow"},"created_at":null}"#,
            ]
        ),
        Page(
            name: "kinvey",
            files: [
                "user.json":
                    #"[{"_id":"u1","username":"ada@example.com"},{"_id":"u2","username":"bob","email":"bob@example.com"}]"#,
                "messages.json": #"""
                [{"_id":"m1","text":"Hi","_acl":{"creator":"u1","r":["u2"]},
                    "_kmd":{"ect":"2015-03-01T10:00:00.123Z","lmt":"2015-03-02T10:00:00.000Z"}},
                 {"_id":"m2","text":"Ho","_acl":{"creator":"u2"},"_kmd":{"ect":"2015-03-01T10:00:00.123Z","lmt":"2015-03-01T10:00:00.123Z"}}]
                """#,
            ],
            lines: [
                #"{"id":"m1","collection":"messages","owner":"ada@example.com","readers":["bob@example.com"],"writers":[],"data":{"text":"Hi"},"created_at":"2015-03-01T10:00:00.123Z","updated_at":"2015-03-02T10:00:00.000Z"}"#,
                #"{"id":"m2","collection":"messages","owner":"bob@example.com","readers":[],"writers":[],"data":{"text":"Ho"},"created_at":"2015-03-01T10:00:00.123Z","updated_at":"2015-03-01T10:00:00.123Z"}"#,
            ]
        ),
        Page(
            name: "dreamfactory",
            files: [
                "users.json": #"{"record":[{"id":1,"email":"ada@example.com"}]}"#,
                "bugs.json": #"""
                {"record":[{"id":7,"title":"Crash","priority_id":2,"created_by_id":1,"created_date":"2015-03-01 10:00:00",
                    "last_modified_date":"2015-03-01 10:00:00"},{"id":8,"title":"Slow","priority_id":null,"created_by_id":1}]}
                """#,
            ],
            lines: [
                #"{"id":"7","collection":"bugs","owner":"ada@example.com","data":{"title":"Crash","priority_id":"2"},"created_at":"2015-03-01T10:00:00Z"}"#,
                #"{"id":"8","collection":"bugs","owner":"ada@example.com","data":{"title":"Slow","priority_id":null},"created_at":null}"#,
            ]
        ),
    ]

    @Test("The line of jq makes records that are imported", arguments: pages)
    func line(page: Page) async throws {
        let text = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/imports/\(page.name).md"),
            encoding: .utf8
        )
        let command = try #require(text.split(separator: "\n").first { $0.hasPrefix("    jq ") })
        let output = try #require(command.split(separator: " ").last)
        try await TemporaryFolder.with { folder in
            for (name, contents) in page.files { try Data(contents.utf8).write(to: folder.appending(path: name)) }
            let shell = URL(filePath: "/bin/sh")
            let outcome = try await ProgramOutcome.run(
                shell,
                ["-ec", String(command)],
                environment: [:],
                directory: folder
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            let file = folder.appending(path: String(output))
            let made = try String(contentsOf: file, encoding: .utf8)
            #expect(made == page.lines.joined(separator: "\n") + "\n", "\(made)")
            let schema =
                #"{"roles":{"team":{}},"collections":{"bugs":{"access":"shared","role":"team"},"messages":{"access":"acl"}}}"#
            try await TestService.runWithSchema(schema) { service in
                for name in ["ada", "bob"] { _ = try await service.addMember(name) }
                let imported = try await SelfieProcess.run(
                    ["records", "import", file.path],
                    environment: ["DATABASE_URL": service.databaseURL]
                )
                #expect(imported.status == 0 && imported.output == "2 records imported.\n", "\(imported)")
            }
        }
    }
}
