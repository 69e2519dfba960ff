import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieOperations

@Suite("selfie records", .timeLimit(.minutes(3)))
struct ImportCommandTests {
    private static let schema = #"""
        {"roles":{"team":{}},"collections":{"threads":{"access":"acl","indexes":["title","updated_at"],
            "fields":{"title":{"type":"string","max":10},"first":{"type":"reference","to":"notes"},"all":{"type":"references","to":"notes"}}},
         "notes":{"access":"private","fields":{"text":{"type":"string"},"thread":{"type":"reference","to":"threads"}}},
         "inbox":{"access":"inbox"},"bugs":{"access":"shared","role":"team"}}}
        """#

    /// What a command needs, and a service on the same database.
    private struct Scene: Sendable {
        let service: TestService
        let folder: URL
        let (ada, bob): (TestMember, TestMember)

        func write(_ lines: [String], to name: String = "records.jsonl") throws -> String {
            let file = folder.appending(path: name)
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            return file.path
        }

        func selfie(_ words: String...) async throws -> (status: Int32, output: String, errors: String) {
            let outcome = try await SelfieProcess.run(
                ["records"] + words,
                environment: ["DATABASE_URL": service.databaseURL]
            )
            return (outcome.status, outcome.output, outcome.errors)
        }
    }

    private static func run(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            try await TestService.runWithSchema(schema) { service in
                let (ada, bob) = (
                    try await service.addMember("ada", role: "team"), try await service.addMember("bob")
                )
                try await body(Scene(service: service, folder: folder, ada: ada, bob: bob))
            }
        }
    }

    @Test(
        "Records come with their owners, readers, times and references in any order, and as calls would have made them"
    )
    func contents() async throws {
        try await Self.run { scene in
            let (service, ada, bob) = (scene.service, scene.ada, scene.bob)
            let file = try scene.write([
                #"{"id":"t1","collection":"threads","owner":"ADA@example.com","data":{"title":"one","first":"n2","all":["n1","n2"]},"#
                    + #""readers":["bob@example.com"],"created_at":"2020-01-02T03:04:05.678Z","updated_at":"2021-01-01T00:00:00Z"}"#,
                "",
                #"{"id":"t2","collection":"threads","owner":"\#(bob.id)","data":{"title":"two"},"writers":["\#(ada.id)"]}"#,
                #"{"id":"n1","owner":"ada@example.com","data":{"text":"a","thread":"t1"}}"#,
                #"{"id":"n2","owner":"ada@example.com","data":{"thread":"nothing"},"created_at":"2019-01-01T00:00:00Z"}"#,
                #"{"id":"m","collection":"inbox","owner":"ada@example.com","recipient":"bob@example.com","data":{"x":1}}"#,
                #"{"id":"b","collection":"bugs","owner":"ada@example.com","data":{}}"#,
            ])
            let checked = try await scene.selfie("import", file, "--collection", "notes", "--dry-run")
            #expect(checked.status == 0 && checked.output == "6 records would be imported.\n", "\(checked)")
            #expect(try await service.count("SELECT count(*) FROM records") == 0)
            let imported = try await scene.selfie("import", file, "--collection", "notes")
            #expect(imported.status == 0 && imported.output == "6 records imported.\n", "\(imported)")
            #expect(imported.errors == "1 record refers to records that are not there.\n", "\(imported.errors)")
            let thread = try await service.call("GET", "/api/records/threads/t1?include=first,all", as: bob)
            #expect(thread.json["created_at"] as? String == "2020-01-02T03:04:05.678Z")
            #expect(
                thread.json["updated_at"] as? String == "2021-01-01T00:00:00.000Z"
                    && thread.json["owner"] as? String == ada.id
            )
            let own = try await service.call("GET", "/api/records/threads/t1?include=first,all", as: ada)
            #expect(own.json["readers"] as? [String] == [bob.id] && (own.json["included"] as? [Any])?.count == 2)
            #expect(try await service.ids("threads", as: ada, query: "&order=updated_at") == ["t1", "t2"])
            #expect(
                try await service.call("PATCH", "/api/records/threads/t2", as: ada, #"{"data":{"title":"x"}}"#).status
                    == 200
            )
            #expect(try await service.call("DELETE", "/api/records/notes/n1", as: ada).status == 409)
            #expect(try await service.ids("inbox", as: bob) == ["m"])
            #expect(try await service.ids("bugs", as: ada) == ["b"])
            #expect(try await service.changes("", as: bob).changes.count == 3)
            #expect(try await service.count("SELECT count(*) FROM record_imports") == 0)
            try await service.expectSoundStreams()
        }
    }

    @Test("A file with anything wrong adds nothing, and each line that is wrong is named")
    func refused() async throws {
        try await Self.run { scene in
            _ = try await scene.service.call("PUT", "/api/records/notes/taken", as: scene.ada, #"{"data":{}}"#)
            let owner = #""owner":"ada@example.com""#
            let file = try scene.write([
                #"{"id":"n1",\#(owner),"data":{}}"#, "{", #"{"id":"n1",\#(owner),"data":{}}"#,
                #"{"id":"taken",\#(owner),"data":{}}"#,
                #"{"id":"n2","owner":"eve@example.com","data":{}}"#, #"{"id":"n3",\#(owner)}"#,
                #"{"id":"n 4",\#(owner),"data":{}}"#,
                #"{"id":"n5",\#(owner),"data":{"text":5}}"#, #"{"id":"n6",\#(owner),"data":{},"colour":"red"}"#,
                #"{"id":"n7",\#(owner),"data":{},"readers":["bob@example.com"]}"#,
                #"{"id":"n8",\#(owner),"data":{},"created_at":"yesterday"}"#,
                #"{"id":"n9",\#(owner),"data":{},"collection":"none"}"#,
                #"{"id":"m1",\#(owner),"data":{},"collection":"inbox"}"#, #"{"id":"n10","data":{}}"#,
                #"{"id":"n11",\#(owner),"data":{},"recipient":"bob@example.com"}"#,
            ])
            for words in [
                ["import", file, "--collection", "notes"], ["import", file, "--collection", "notes", "--dry-run"],
            ] {
                let outcome = try await SelfieProcess.run(
                    ["records"] + words,
                    environment: ["DATABASE_URL": scene.service.databaseURL]
                )
                #expect(outcome.status == 1)
                let lines = outcome.errors.split(separator: "\n").map { String($0) }.sorted()
                #expect(
                    lines == [
                        "Mend the file, and run the command again. Nothing was added.",
                        "line 10: only records of an acl collection have readers and writers",
                        "line 11: created_at must be a time such as 2026-11-24T10:00:00Z",
                        "line 12: there is no collection none",
                        "line 13: only records of an inbox have a recipient, and each has one",
                        "line 14: owner is missing",
                        "line 15: only records of an inbox have a recipient, and each has one",
                        "line 2: is no JSON object",
                        "line 3: another line has the record n1", "line 4: there is a record taken",
                        "line 5: there is no user eve@example.com", "line 6: data is missing",
                        "line 7: id has 1 to 255 of A-Z a-z 0-9 . _ : ~ @ -, and is neither . nor ..",
                        "line 8: text must be of the type string",
                        "line 9: colour is unknown",
                    ],
                    "\(lines)"
                )
            }
            #expect(try await scene.service.count("SELECT count(*) FROM records") == 1)
            let missing = try await scene.selfie("import", "\(file).none")
            #expect(missing.status == 1 && missing.errors.contains("There is no file \(file).none."))
            let folder = try await scene.selfie("import", scene.folder.path)
            #expect(folder.status == 1 && folder.errors.contains("\(scene.folder.path) can't be read: "), "\(folder)")
            let many = try scene.write((0..<30).map { _ in "x" }, to: "many.jsonl")
            let errors = try await scene.selfie("import", many).errors
            #expect(errors.contains("line 20: is no JSON object\nand 10 more errors\n"), "\(errors)")
            let long = try scene.write([String(repeating: "x", count: (1 << 20) + 1)], to: "long.jsonl")
            #expect(try await scene.selfie("import", long).errors.contains("line 1: has more than 1048576 bytes"))
        }
    }

    @Test("What was imported is exported as it was")
    func roundTrip() async throws {
        try await Self.run { scene in
            let service = scene.service
            let lines = (0..<1_200).map { number in
                let (owner, reader) = number % 2 == 0 ? ("ada", "bob") : ("bob", "ada")
                return #"{"id":"t\#(number)","collection":"threads","owner":"\#(owner)@example.com","#
                    + #""readers":["\#(reader)@example.com"],"writers":[],"data":{"title":"\#(number)"},"#
                    + #""created_at":"2020-01-02T03:04:05.678Z","updated_at":"2021-01-01T00:00:00.001Z"}"#
            }
            let imported = try await scene.selfie("import", try scene.write(lines))
            #expect(imported.status == 0, "\(imported)")
            let exported = try await scene.selfie("export", "threads")
            #expect(
                exported.status == 0 && exported.output == lines.joined(separator: "\n") + "\n",
                "\(exported.output.prefix(400))"
            )
            _ = try await service.call(
                "PUT",
                "/api/members/\(scene.bob.id)/records/inbox/m",
                as: scene.ada,
                #"{"data":{}}"#
            )
            let inbox = try await scene.selfie("export", "inbox").output
            #expect(inbox.contains(#""owner":"ada@example.com","recipient":"bob@example.com""#), "\(inbox)")
            #expect(try await scene.selfie("export", "none").errors.contains("There is no collection none."))
            try await service.expectSoundStreams()
        }
    }

    @Test("An import that is killed again and again goes on where it was, and adds each record once")
    func killed() async throws {
        try await Self.run { scene in
            let count = 6_000
            let lines = (0..<count).map { number in
                #"{"id":"n\#(number)","owner":"ada@example.com","data":{"text":"\#(number)","thread":"t\#(number % 7)"}}"#
            }
            let threads = (0..<7).map {
                #"{"id":"t\#($0)","collection":"threads","owner":"ada@example.com","data":{}}"#
            }
            let file = try scene.write(lines + threads)
            let words = ["records", "import", file, "--collection", "notes"]
            var (kills, outcome): (Int, String?) = (0, nil)
            while outcome == nil, kills < 100 {
                let process = try SelfieProcess(words, environment: ["DATABASE_URL": scene.service.databaseURL])
                let before = try await scene.service.count("SELECT count(*) FROM records")
                // Some batches later, or at the end.
                var status: Int32?
                while status == nil,
                    try await scene.service.count("SELECT count(*) FROM records") < before + 1_000 + 100 * kills
                {
                    status = try? await process.waitForExit(timeout: .milliseconds(5))
                }
                if status == nil { process.signal(SIGKILL) }
                // It may have ended just before.
                let end = try await process.waitForExit()
                if end == 0 { outcome = process.output } else { kills += 1 }
            }
            #expect(kills >= 3, "\(kills)")
            #expect(outcome?.contains("were imported before.") == true, "\(outcome ?? "")")
            #expect(try await scene.service.count("SELECT count(*) FROM records") == count + 7)
            #expect(try await scene.service.count("SELECT count(*) FROM record_references") == count)
            #expect(try await scene.service.count("SELECT count(*) FROM record_imports") == 0)
            try await scene.service.expectSoundStreams()
        }
    }

    @Test("Of imports of one file at once, each record is added by one, and the others say so")
    func parallel() async throws {
        try await Self.run { scene in
            let lines = (0..<3_000).map { #"{"id":"n\#($0)","owner":"ada@example.com","data":{}}"# }
            let file = try scene.write(lines)
            let outcomes = try await withThrowingTaskGroup(of: (status: Int32, text: String).self) { tasks in
                for _ in 0..<3 {
                    tasks.addTask {
                        let outcome = try await scene.selfie("import", file, "--collection", "notes")
                        return (outcome.status, outcome.output + outcome.errors)
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            let refused = outcomes.filter { $0.status != 0 }
            #expect(refused.count >= 2, "\(outcomes)")
            // One that begins when another has ended finds that the ids are taken.
            let reasons = ["Another process imports this file.", "there is a record n"]
            #expect(refused.allSatisfy { outcome in reasons.contains { outcome.text.contains($0) } }, "\(outcomes)")
            // What was interrupted by another one goes on.
            _ = try await scene.selfie("import", file, "--collection", "notes")
            #expect(try await scene.service.count("SELECT count(*) FROM records") == lines.count)
            try await scene.service.expectSoundStreams()
        }
    }

    @Test("An interrupted import goes on even if a member of its first lines is gone")
    func goneMember() async throws {
        try await Self.run { scene in
            let lines = (0..<6_000).map { number in
                #"{"id":"n\#(number)","owner":"\#(number < 500 ? "bob" : "ada")@example.com","data":{}}"#
            }
            let file = try scene.write(lines)
            let environment = ["DATABASE_URL": scene.service.databaseURL]
            let process = try SelfieProcess(
                ["records", "import", file, "--collection", "notes"],
                environment: environment
            )
            try await poll("some lines") { try await scene.service.count("SELECT count(*) FROM records") >= 1_000 }
            process.signal(SIGKILL)
            #expect(try await process.waitForExit() != 0)
            try await Administration(postgres: scene.service.postgres).delete(.id(scene.bob.userID))
            let outcome = try await scene.selfie("import", file, "--collection", "notes")
            #expect(outcome.status == 0 && outcome.output.contains("were imported before."), "\(outcome)")
            #expect(try await scene.service.count("SELECT count(*) FROM records WHERE data IS NOT NULL") == 5_500)
            try await scene.service.expectSoundStreams()
        }
    }

    @Test("Lists of records of any year go on behind each page")
    func oldTimes() async throws {
        try await Self.run { scene in
            let lines = ["0001", "1950", "2300", "9999"].enumerated().map { number, year in
                #"{"id":"t\#(number)","collection":"threads","owner":"ada@example.com","data":{},"created_at":"\#(year)-01-01T00:00:00Z"}"#
            }
            let imported = try await scene.selfie("import", try scene.write(lines))
            #expect(imported.status == 0, "\(imported)")
            for order in ["created", "updated_at"] {
                var (ids, after): ([String], String) = ([], "")
                for _ in 0..<5 {
                    let path = "/api/records/threads?limit=1&order=\(order)\(after)"
                    let page = try await scene.service.call("GET", path, as: scene.ada)
                    #expect(page.status == 200, "\(page.text)")
                    ids += page.records.compactMap { $0["id"] as? String }
                    guard let next = page.json["next"] as? String else { break }
                    after = "&after=\(next)"
                }
                #expect(ids == ["t0", "t1", "t2", "t3"], "\(order) \(ids)")
            }
        }
    }

    @Test("Numbers are taken over, and new records get higher ones")
    func numbers() async throws {
        try await Self.run { scene in
            try await scene.service.apply(
                Self.schema.replacing(#""role":"team"}"#, with: #""role":"team","ids":"integer"}"#)
            )
            let file = try scene.write([
                #"{"id":"7","collection":"bugs","owner":"ada@example.com","data":{}}"#,
                #"{"id":"5","collection":"bugs","owner":"ada@example.com","data":{}}"#,
            ])
            #expect(try await scene.selfie("import", file).status == 0)
            let answer = try await scene.service.call("POST", "/api/records/bugs", as: scene.ada, #"{"data":{}}"#)
            #expect(answer.json["id"] as? String == "8", "\(answer.text)")
            let wrong = try scene.write(
                [#"{"id":"x","collection":"bugs","owner":"ada@example.com","data":{}}"#],
                to: "wrong.jsonl"
            )
            let outcome = try await scene.selfie("import", wrong)
            #expect(outcome.status != 0)
            #expect(
                outcome.errors.contains("line 1: x is no whole number, as the ids of this collection"),
                "\(outcome.errors)"
            )
            // Numbers that are imported later do not move the count back.
            let late = try scene.write(
                [#"{"id":"2","collection":"bugs","owner":"ada@example.com","data":{}}"#],
                to: "late.jsonl"
            )
            #expect(try await scene.selfie("import", late).status == 0)
            let next = try await scene.service.call("POST", "/api/records/bugs", as: scene.ada, #"{"data":{}}"#)
            #expect(next.json["id"] as? String == "9")
        }
    }
}
