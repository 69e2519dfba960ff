import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("What an export has", .timeLimit(.minutes(3)))
struct ExportTests {
    @Test("All original photos, profile, sessions, history and the user's own records", arguments: TestStore.allCases)
    func contents(store: TestStore) async throws {
        try await TestService.runWithSchema(store: store) { service in
            let token = try await service.makeToken()
            let id = try await service.memberID("ada")
            let ada = TestMember(name: "ada", token: token, id: id)
            let bob = try await service.addMember("bob")
            let first = try await service.upload(token: token, title: "Ada's café 🎉").json
            let second = try await service.upload(TestImage.png(bytes: 300_000), token: token, title: "At sea").json
            let unlisted = try await service.uploadUnlisted(as: ada)
            _ = try await service.upload(token: bob.token, title: "Bob's")
            try await service.change(token, #"{"title":"Analyst","fields":{"phone":"1"}}"#)
            #expect(try await service.call("PUT", "/api/blocks/\(bob.id)", as: ada).status == 200)
            for path in ["houses/house-1", "houses/house-2"] {
                #expect(
                    try await service.call("PUT", "/api/records/\(path)", as: ada, #"{"data":{"address":"Here"}}"#)
                        .status == 200
                )
            }
            #expect(try await service.call("DELETE", "/api/records/houses/house-2", as: ada).status == 200)
            #expect(
                try await service.call("PUT", "/api/records/houses/house-3", as: bob, #"{"data":{"address":"There"}}"#)
                    .status
                    == 200
            )

            let answer = try await service.export(token)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/zip")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["content-length"] == nil && answer.headers["transfer-encoding"] == "chunked")
            let disposition = try #require(answer.headers["content-disposition"])
            #expect(disposition.wholeMatch(of: /attachment; filename="selfie-export-\d{4}-\d\d-\d\d\.zip"/) != nil)
            try await UnpackedExport.with(answer.body) { export in
                let photos = ["photos/0001-Ada-s-café.jpg", "photos/0002-At-sea.png", "photos/0003-Unlisted.png"]
                #expect(export.photoNames.prefix(2) == photos.prefix(2))
                #expect(
                    export.names.filter { !$0.hasPrefix("photos/") } == [
                        "account.json", "sessions.json", "audit.json", "records.json", "photos.json", "manifest.sha256",
                    ]
                )
                let ids: [String?] = [first["random_id"] as? String, second["random_id"] as? String, unlisted.id]
                for (name, id) in zip(export.photoNames, ids.compactMap(\.self)) {
                    let stored = service.objects.bytes(key: id)
                    let isSame = try export.bytes(name) == stored
                    #expect(isSame, "\(name)")
                }
                let list = try export.list("photos.json")
                #expect(list.map { $0["random_id"] as? String } == ids)
                #expect(list.map { $0["file"] as? String } == export.photoNames)
                #expect(list.map { $0["listed"] as? Bool } == [true, true, false])
                for name in ["name", "title", "created_at", "byte_count", "content_type", "width", "height"] {
                    #expect(list[1][name].map { "\($0)" } == second[name].map { "\($0)" }, "\(name)")
                }
                #expect(Set(list[0].keys) == Set(first.keys).subtracting(["image_url"]).union(["file", "listed"]))

                var profile = try await service.me(token)
                profile["picture"] = nil
                let account = try export.object("account.json")
                #expect(Set(account.keys) == Set(profile.keys).union(["created_at", "blocks"]))
                #expect(account["title"] as? String == "Analyst" && account["email"] as? String == "ada@example.com")
                #expect((account["fields"] as? [String: String]) == ["phone": "1"])
                #expect(account["blocks"] as? [String] == [bob.id])

                let records = try export.list("records.json")
                #expect(records.map { $0["id"] as? String } == ["house-1"])
                let record = try await service.call("GET", "/api/records/houses/house-1", as: ada).json
                #expect(Set(records[0].keys).union(["photos"]) == Set(record.keys))
                #expect((records[0]["data"] as? [String: String]) == ["address": "Here"])
                #expect(records[0]["owner"] as? String == id)

                let sessions = try await service.call("GET", "/api/sessions", as: ada).jsonArray
                let (exported, listed) = (try export.list("sessions.json").first, sessions?.first)
                #expect(Set(exported?.keys.map(\.self) ?? []).union(["current"]) == Set(listed?.keys.map(\.self) ?? []))
                let events = try export.list("audit.json")
                #expect(events.map { $0["event"] as? String } == ["sign_up", "sign_in", "export"])
                #expect(events[1]["address"] as? String == "127.0.0.1")
                #expect(events.allSatisfy { $0["by_another"] as? Bool == false && $0["to_another"] as? Bool == false })
            }
            // The files are stored as they are, so they would be seen.
            for secret in [token, "bob@example.com", "Bob's", "house-3"] {
                #expect(answer.body.range(of: Data(secret.utf8)) == nil, "\(secret)")
            }
        }
    }

    @Test("An empty account has one, too")
    func empty() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await UnpackedExport.with(try await service.export(token).body) { export in
                let counts = try ["photos.json", "records.json", "sessions.json"].map { try export.list($0).count }
                #expect(export.names.count == 6 && counts == [0, 0, 1])
                #expect(export.times["account.json"] == Self.parts(of: service.clock.now))
            }
        }
    }

    /// The time to two seconds, as an archive has it.
    private static func parts(of date: Date) -> [Int] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        return [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second.map { $0 / 2 * 2 }].map {
            $0 ?? -1
        }
    }

    @Test("Titles become names that are different and safe everywhere")
    func titles() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            let titles: [(title: String, name: String)] = [
                ("../../x", "0001-x.png"), ("/etc/passwd", "0002-etc-passwd.png"), ("CON", "0003-CON.png"),
                ("same", "0004-same.png"), ("same", "0005-same.png"), ("SAME", "0006-SAME.png"),
                ("caf\u{E9}", "0007-caf\u{E9}.png"), ("cafe\u{301}", "0008-cafe\u{301}.png"),
                ("🎉", "0009.png"), ("a.", "0010-a.png"), (".hidden ", "0011-hidden.png"), ("", "0012.png"),
                (String(repeating: "é", count: 255), "0013-" + String(repeating: "é", count: 60) + ".png"),
                (String(repeating: "写", count: 255), "0014-" + String(repeating: "写", count: 60) + ".png"),
                ("x\u{202E}gpj.exe", "0015-x-gpj-exe.png"), ("a\\b:c\nd", "0016-a-b-c-d.png"),
                ("2026 01", "0017-2026-01.png"), ("שלום", "0018-שלום.png"),
                (
                    "a" + String(repeating: "\u{301}", count: 30),
                    "0019-a" + String(repeating: "\u{301}", count: 30) + ".png"
                ),
                (
                    String(repeating: "a" + String(repeating: "\u{301}", count: 30), count: 8),
                    "0020-" + String(repeating: "a" + String(repeating: "\u{301}", count: 30), count: 2) + ".png"
                ),
            ]
            try await service.addPhotos(titles.map { ($0.title, Data("\($0.name)".utf8)) })
            try await UnpackedExport.with(try await service.export(token).body) { export in
                #expect(export.photoNames.map { Array($0.utf8) } == titles.map { Array("photos/\($0.name)".utf8) })
                for title in titles {
                    let bytes = try export.bytes("photos/\(title.name)")
                    #expect(bytes == Data(title.name.utf8))
                }
            }
        }
    }

    @Test("A photo of railsauth gets the extension that its bytes show, and its own time if it has one")
    func railsauth() async throws {
        try await TestService.run { service in
            let token = try await service.addSession()
            try await service.addPhotos([("a", TestImage.jpeg), ("b", Data("text".utf8)), ("c", Data())])
            try await service.postgres.write(
                """
                UPDATE photos SET content_type = NULL, byte_count = NULL, created_at = CASE WHEN title = 'a'
                    THEN timestamp '2014-08-28 13:26:07.9' END
                """
            )
            try await UnpackedExport.with(try await service.export(token).body) { export in
                #expect(export.photoNames == ["photos/0001-a.jpg", "photos/0002-b.bin", "photos/0003-c.bin"])
                #expect(export.times["photos/0001-a.jpg"] == [2014, 8, 28, 13, 26, 6])
                #expect(export.times["photos/0002-b.bin"] == Self.parts(of: service.clock.now))
            }
        }
    }

    @Test("Photos, events and records come page by page")
    func pages() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await service.addRows(1_003)
            let ids = try await service.postgres.read("SELECT random_id FROM photos ORDER BY id")
                .map { try $0.decode("random_id", as: String.self) }
            try await service.objects.write(ids, Data(repeating: 7, count: 100))
            try await service.postgres.write(
                """
                INSERT INTO audit_events (event, user_id, address, request_id)
                SELECT 'sign_in', \(ada.userID), '192.0.2.1', number::text FROM generate_series(1, 600) AS number
                """
            )
            // Each has more than a twentieth of what a page has.
            let text = String(repeating: "é", count: 7_000)
            for number in 1...60 {
                let path = "/api/records/threads/thread-\(number)"
                let body = #"{"data":{"text":"\#(text)"}}"#
                #expect(try await service.call("PUT", path, as: ada, body).status == 200)
            }
            try await UnpackedExport.with(try await service.export(ada.token).body) { export in
                #expect(export.photoNames.count == 1_003)
                #expect(export.photoNames.last == "photos/1003-1003.png")
                #expect(try export.list("photos.json").map { $0["random_id"] as? String } == ids)
                let requests = try export.list("audit.json").map { $0["request_id"] as? String }
                #expect(requests.dropLast() == (1...600).map { "\($0)" }[...])
                let records = try export.list("records.json")
                #expect(records.map { $0["id"] as? String } == (1...60).map { "thread-\($0)" })
            }
        }
    }

    @Test("Records are those that the user may read now, in all kinds of collections")
    func records() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada", role: "team"), try await service.addMember("bob"))
            func put(_ path: String, _ data: String, as member: TestMember, _ rest: String = "") async throws {
                let answer = try await service.call("PUT", path, as: member, #"{"data":\#(data)\#(rest)}"#)
                #expect(answer.status == 200, "\(path): \(answer.text)")
            }
            try await put("/api/records/threads/mine", #"{"title":"a"}"#, as: ada, #","readers":["\#(bob.id)"]"#)
            try await put("/api/records/threads/theirs", #"{"title":"a"}"#, as: bob, #","readers":["\#(ada.id)"]"#)
            try await put("/api/records/priorities/high", #"{"name":"high"}"#, as: ada)
            try await put("/api/members/\(bob.id)/records/inbox/sent", #"{"text":"a"}"#, as: ada)
            try await put("/api/members/\(ada.id)/records/inbox/received", #"{"text":"a"}"#, as: bob)
            try await put("/api/members/\(ada.id)/records/inbox/note", #"{"text":"a"}"#, as: ada)
            func exported() async throws -> [String] {
                try await UnpackedExport.with(try await service.export(ada.token).body) { export in
                    let records = try export.list("records.json")
                    let thread = records.first { $0["id"] as? String == "mine" }
                    #expect(thread?["readers"] as? [String] == [bob.id] && thread?["writers"] as? [String] == [])
                    return records.compactMap { $0["id"] as? String }
                }
            }
            #expect(try await exported() == ["note", "high", "mine"])
            try await service.postgres.write("DELETE FROM role_members")
            #expect(try await exported() == ["note", "mine"])
        }
    }

    @Test("The history shows nothing of other users")
    func history() async throws {
        try await TestService.run { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.postgres.write(
                """
                INSERT INTO audit_events (event, user_id, actor_id, role, address, request_id) VALUES
                    ('role_added', \(ada.userID), \(bob.userID), 'team', '192.0.2.66', 'request-of-bob'),
                    ('role_removed', \(bob.userID), \(ada.userID), 'team', '192.0.2.1', 'request-of-ada'),
                    ('sign_in', \(bob.userID), NULL, NULL, '192.0.2.66', 'request-of-bob'),
                    ('quota_changed', \(ada.userID), NULL, NULL, NULL, NULL)
                """
            )
            let answer = try await service.export(ada.token)
            try await UnpackedExport.with(answer.body) { export in
                let events = try export.list("audit.json")
                #expect(
                    events.map { $0["event"] as? String } == ["role_added", "role_removed", "quota_changed", "export"]
                )
                #expect(events.map { $0["by_another"] as? Bool } == [true, false, false, false])
                #expect(events.map { $0["to_another"] as? Bool } == [false, true, false, false])
                #expect(events.map { $0["address"] as? String } == [nil, "192.0.2.1", nil, "127.0.0.1"])
                #expect(events[1]["request_id"] as? String == "request-of-ada")
            }
            for secret in ["192.0.2.66", "request-of-bob", bob.id] {
                #expect(answer.body.range(of: Data(secret.utf8)) == nil, "\(secret)")
            }
        }
    }

    @Test("The gallery exports the same with its cookie, and no page of another site can ask for it")
    func gallery() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.addPhotos([("a", TestImage.jpeg)])
            let headers = [("Sec-Fetch-Site", "same-origin"), ("Cookie", "selfie=\(token)")]
            let answer = try await service.send("GET", "/gallery/export", headers: headers)
            #expect(answer.status == 200)
            try await UnpackedExport.with(answer.body) { #expect($0.photoNames.count == 1) }
            let other = [("Sec-Fetch-Site", "cross-site"), ("Cookie", "selfie=\(token)")]
            #expect(try await service.send("GET", "/gallery/export", headers: other).status == 403)
        }
    }
}
