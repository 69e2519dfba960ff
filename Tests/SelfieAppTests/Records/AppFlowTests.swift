import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

/// The apps that have a page in `docs/ports/`, each with its whole flow.
///
/// Calls go to both processes.
@Suite("Four apps on two processes", .timeLimit(.minutes(3)))
struct AppFlowTests {
    private static let password = "my password"

    /// Makes an account with a profile by the API, and begins a session.
    private static func join(
        _ name: String,
        title: String = "",
        remember: String? = nil,
        _ service: TestService
    ) async throws -> TestMember {
        let credentials = [("email", "\(name)@example.com"), ("password", try TestService.encrypt(password))]
        let profile = [("first_name", name), ("last_name", "Example"), ("title", title)]
        let signUp = try await service.sendForm(
            "POST",
            "/api/signup",
            authorization: TestService.basic,
            credentials + profile
        )
        #expect(signUp.status == 200, "\(signUp.text)")
        let signIn = try await service.sendForm(
            "POST",
            "/api/signin",
            authorization: TestService.basic,
            credentials + (remember.map { [("remember", $0)] } ?? [])
        )
        let token = try #require(signIn.json["api_authtoken"] as? String, "\(signIn.text)")
        let member = TestMember(name: name, token: token, id: "")
        let me = try await service.call("GET", "/api/me", as: member)
        return TestMember(name: name, token: token, id: try #require(me.json["id"] as? String))
    }

    /// The path and query of a signed URL, which the other process serves, too.
    private static func target(_ url: Any?) throws -> String {
        let text = try #require(url as? String)
        let parts = try #require(URLComponents(string: text))
        let query = try #require(parts.percentEncodedQuery)
        return "\(parts.percentEncodedPath)?\(query)"
    }

    static func expectNothing(
        _ paths: [String],
        _ service: TestService,
        as member: TestMember,
        methods: [String] = ["GET", "PATCH", "DELETE"]
    ) async throws {
        for path in paths {
            for method in methods {
                let body = method == "PATCH" ? #"{"data":{"text":"mine"}}"# : nil
                let answer = try await service.call(method, path, as: member, body)
                #expect(answer.status == 404, "\(method) \(path): \(answer.text)")
            }
        }
    }

    @Test("Office messenger: profiles, directory, and messages that only two can see")
    func messenger() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await Self.join("Ada", title: "Engineer", remember: "true", first)
            let grace = try await Self.join("Grace", title: "Admiral", second)
            let eve = try await Self.join("Eve", title: "Guest", remember: "true", first)
            for (member, service) in [(ada, second), (grace, first)] {
                let picture = try await service.uploadUnlisted(as: member).id
                let changed = try await service.call("PATCH", "/api/me", as: member, #"{"picture":"\#(picture)"}"#)
                #expect(changed.status == 200, "\(changed.text)")
            }
            for (query, service) in [("Ad", first), ("eng", second), ("exam", second)] {
                let found = try await service.call("GET", "/api/members?query=\(query)", as: grace)
                let members = found.json["members"] as? [[String: Any]] ?? []
                let match = try #require(members.first { $0["id"] as? String == ada.id }, "\(query): \(found.text)")
                #expect(match["email"] == nil || match["email"] is NSNull)
                let picture = (match["picture"] as? [String: Any])?["image_url"] ?? match["picture"]
                let opened = try await first.send("GET", try Self.target(picture))
                #expect(opened.status == 200 && opened.body == TestImage.jpeg)
            }

            let thread = [ada.id, grace.id].sorted().joined(separator: ":")
            let made = try await first.call(
                "PUT",
                "/api/records/threads/\(thread)",
                as: ada,
                #"{"data":{},"writers":["\#(grace.id)"]}"#
            )
            #expect(made.status == 200, "\(made.text)")
            let other = [grace.id, ada.id].sorted().joined(separator: ":")
            #expect(try await second.call("GET", "/api/records/threads/\(other)", as: grace).status == 200)

            let picture = try await first.uploadUnlisted(as: ada).id
            let message = UUID().uuidString
            let data = #"{"threadId":"\#(thread)","text":"Hello Grace","picture":"\#(picture)"}"#
            let sent = try await second.call(
                "PUT",
                "/api/records/messages/\(message)",
                as: ada,
                #"{"data":\#(data),"readers":["\#(grace.id)"]}"#
            )
            #expect(sent.status == 200, "\(sent.text)")
            let inThread = "&where=\(#"{"threadId":"\#(thread)"}"#.formEncoded)"
            for (member, service) in [(ada, first), (grace, second), (ada, second), (grace, first)] {
                #expect(try await service.ids("messages", as: member, query: inThread) == [message])
                let threads = try await service.call("GET", "/api/records/threads?include=lastMessage", as: member)
                #expect((threads.records.first?["data"] as? [String: Any])?["lastMessage"] as? String == message)
                let included = (threads.json["included"] as? [[String: Any]])?.first
                let photos = included?["photos"] as? [String: String]
                let opened = try await service.send("GET", try Self.target(photos?["picture"]))
                #expect(opened.status == 200 && opened.body == TestImage.jpeg)
            }

            // The third finds none of it, and can't open the picture by its id.
            for service in [first, second] {
                try await Self.expectNothing(
                    ["/api/records/threads/\(thread)", "/api/records/messages/\(message)"],
                    service,
                    as: eve
                )
                for collection in ["threads", "messages"] {
                    #expect(try await service.ids(collection, as: eve).isEmpty)
                    let byID = try await service.call(
                        "GET",
                        "/api/records/\(collection)?ids=\(message),\(thread)",
                        as: eve
                    )
                    #expect(byID.status == 200 && byID.records.isEmpty)
                }
                #expect(try await service.ids("messages", as: eve, query: inThread).isEmpty)
                let photo = try Self.target(sent.json["photos"].flatMap { ($0 as? [String: String])?["picture"] })
                let unsigned = String(photo.prefix { $0 != "?" })
                #expect([403, 404].contains(try await service.send("GET", unsigned).status))
                let taken = try await service.call(
                    "POST",
                    "/api/records/messages",
                    as: eve,
                    #"{"data":{"threadId":"\#(thread)","picture":"\#(picture)"}}"#
                )
                #expect(taken.status == 400, "\(taken.text)")
            }

            let changed = try await second.call("PATCH", "/api/me", as: ada, #"{"title":"Countess"}"#)
            #expect(changed.status == 200)
            let seen = try await first.call("GET", "/api/members/\(ada.id)", as: grace)
            #expect(seen.json["title"] as? String == "Countess")

            // Two times thirty days, each with a use in between. Eve forgets her session.
            #expect(try await second.call("GET", "/api/me", as: eve).status == 200)
            #expect(try await second.call("GET", "/api/clear_token", as: eve).status == 200)
            for service in [first, second] {
                try await service.postgres.write(
                    """
                    UPDATE sessions SET last_used_at = last_used_at - interval '30 days',
                        expires_at = expires_at - interval '30 days'
                    """
                )
                #expect(try await service.call("GET", "/api/me", as: ada).status == 200)
                #expect(try await service.call("GET", "/api/me", as: eve).status == 401)
                #expect(try await service.call("GET", "/api/me", as: grace).status == 401)
            }
            try await first.expectSoundStreams()
        }
    }

    @Test("House list: private records with a photo")
    func houses() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let (ada, eve) = (try await first.addMember("ada"), try await first.addMember("eve"))
            let photo = try await first.uploadUnlisted(as: ada).id
            let path = "/api/records/houses/house-1"
            let made = try await second.call(
                "PUT",
                path,
                as: ada,
                #"{"data":{"address":"12 Rose Street","comment":"garden","photo":"\#(photo)"}}"#
            )
            #expect(made.status == 200, "\(made.text)")
            let seen = try await first.call("GET", path, as: ada)
            let url = try Self.target((seen.json["photos"] as? [String: String])?["photo"])
            #expect(try await second.send("GET", url).body == TestImage.jpeg)
            for service in [first, second] {
                try await Self.expectNothing([path], service, as: eve)
                #expect(try await service.ids("houses", as: eve).isEmpty)
                #expect([403, 404].contains(try await service.send("GET", String(url.prefix { $0 != "?" })).status))
            }
            let changed = try await second.call(
                "PATCH",
                path,
                as: ada,
                #"{"data":{"comment":"sold"}}"#,
                headers: [("If-Match", "\"1\"")]
            )
            #expect(changed.json["version"] as? Int == 2)
            let late = try await first.call(
                "PATCH",
                path,
                as: ada,
                #"{"data":{"comment":"mine"}}"#,
                headers: [("If-Match", "\"1\"")]
            )
            #expect(late.status == 412)
            #expect(try await first.call("DELETE", path, as: ada).json["deleted"] as? Int == 1)
            try await poll("the photo's object goes") { first.objects.keys().isEmpty }
            #expect(try await second.send("GET", url).status == 404)
            try await first.expectSoundStreams()
        }
    }

    @Test("Safe chat: one message, read by one, and no word of it left")
    func safeChat() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let (ada, grace) = (try await first.addMember("ada"), try await first.addMember("grace"))
            let eve = try await first.addMember("eve")
            let word = "photosynthesis"
            let path = "/api/members/\(grace.id)/records/inbox/m1"
            for service in [first, second] {
                let put = try await service.call("PUT", path, as: ada, #"{"data":{"text":"\#(word)"}}"#)
                #expect(put.status == 200 && put.json["version"] as? Int == 1, "\(put.text)")
            }
            #expect(try await second.ids("inbox", as: grace) == ["m1"])
            for service in [first, second] {
                #expect([403, 404].contains(try await service.call("GET", path, as: ada).status))
                #expect(try await service.ids("inbox", as: ada).isEmpty)
                try await Self.expectNothing([path, "/api/records/inbox/m1"], service, as: eve)
            }
            let read = try await first.call("GET", "/api/records/inbox/m1", as: grace)
            #expect(read.data["text"] as? String == word)
            #expect(try await second.call("DELETE", "/api/records/inbox/m1", as: grace).status == 200)

            // The author takes back what was not read.
            let other = "/api/members/\(grace.id)/records/inbox/m2"
            #expect(try await first.call("PUT", other, as: ada, #"{"data":{"text":"\#(word)"}}"#).status == 200)
            #expect(try await second.call("DELETE", other, as: eve).status == 404)
            #expect(try await second.call("DELETE", other, as: ada).status == 200)
            #expect(try await first.ids("inbox", as: grace).isEmpty)
            let dump = try await first.postgres.read(
                """
                SELECT (SELECT count(*) FROM records WHERE records::text LIKE '%synthesis%')
                    + (SELECT count(*) FROM record_index WHERE record_index::text LIKE '%synthesis%')
                    + (SELECT count(*) FROM audit_events WHERE audit_events::text LIKE '%synthesis%') AS count
                """
            )
            #expect(try dump.first?.decode("count", as: Int.self) == 0)

            #expect(try await first.call("PUT", "/api/blocks/\(eve.id)", as: grace).status == 200)
            let refused = try await second.call(
                "PUT",
                "/api/members/\(grace.id)/records/inbox/spam",
                as: eve,
                #"{"data":{"text":"buy"}}"#
            )
            #expect(refused.status == 404 && refused.code == "member_not_found")
            #expect(try await second.ids("inbox", as: grace).isEmpty)
            try await first.expectSoundStreams()
        }
    }
}
