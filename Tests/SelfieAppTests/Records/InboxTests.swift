import ConnectionTestSupport
import Foundation
import JSON
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieRecords

@Suite("Inboxes", .timeLimit(.minutes(3)))
struct InboxTests {
    private static let hello = #"{"data":{"text":"hello"},"expires_at":"2999-01-01T00:00:00.000Z"}"#

    @Test(
        "What the recipient does changes nothing in the answers that the sender gets",
        arguments: ["PATCH", "DELETE"]
    )
    func nothingTold(method: String) async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/members/\(bob.id)/records/inbox/m1"
            let first = try await service.call("PUT", path, as: ada, Self.hello)
            #expect(first.status == 200, "\(first.text)")
            func answers() async throws -> [String] {
                var answers: [String] = []
                for (method, body, headers) in [
                    ("PUT", Self.hello, []), ("PUT", #"{"data":{"text":"hallo"}}"#, []), ("GET", nil, []),
                    ("PUT", Self.hello, [("If-Match", "\"1\"")]), ("PUT", Self.hello, [("If-Match", "\"2\"")]),
                    ("PATCH", #"{"data":{"text":"x"}}"#, []), ("DELETE", nil, [("If-Match", "\"2\"")]),
                ] as [(String, String?, [(String, String)])] {
                    let answer = try await service.call(method, path, as: ada, body, headers: headers)
                    answers.append("\(answer.status) \(answer.text)")
                }
                let created = try await service.call(
                    "POST",
                    "/api/members/\(bob.id)/records/inbox",
                    as: ada,
                    #"{"id":"m1","data":{"text":"hello"}}"#
                )
                return answers + ["\(created.status) \(created.text)"]
            }
            let before = try await answers()
            #expect(before[0] == "200 \(first.text)")
            let statuses = ["200", "409", "403", "200", "412", "403", "412", "409"]
            #expect(before.map { String($0.prefix(3)) } == statuses, "\(before)")
            let body = method == "PATCH" ? #"{"data":{"text":"secret thought"},"expires_at":null}"# : nil
            #expect(try await service.call(method, "/api/records/inbox/m1", as: bob, body).status == 200)
            #expect(try await answers() == before)
            // The id is free for the recipient alone, and what is made with it is not the sender's.
            if method == "DELETE" {
                let own = try await service.call("PUT", "/api/records/inbox/m1", as: bob, #"{"data":{"text":"mine"}}"#)
                #expect(own.status == 200)
                #expect(try await answers() == before)
                #expect(try await service.call("DELETE", path, as: ada).status == 200)
                #expect(try await service.ids("inbox", as: bob) == ["m1"])
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("Other senders get the same answer for a used id before and after the message is deleted")
    func othersID() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let eve = try await service.addMember("eve")
            let path = "/api/members/\(bob.id)/records/inbox/m1"
            #expect(try await service.call("PUT", path, as: ada, Self.hello).status == 200)
            for _ in 0..<2 {
                let taken = try await service.call("PUT", path, as: eve, Self.hello)
                #expect(taken.status == 409 && taken.code == "message_id_taken")
                #expect(try await service.call("PATCH", path, as: eve, #"{"data":{}}"#).status == 404)
                #expect(try await service.call("DELETE", path, as: eve).status == 404)
                #expect(try await service.call("GET", path, as: eve).status == 404)
                _ = try await service.call("DELETE", "/api/records/inbox/m1", as: bob)
            }
            // No word of it is left, and its digest differs for each id and recipient.
            let again = "/api/members/\(eve.id)/records/inbox/m1"
            #expect(try await service.call("PUT", again, as: ada, Self.hello).status == 200)
            let digests = try await service.count("SELECT count(DISTINCT sent_digest) FROM records")
            #expect(digests == 2)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data::text LIKE '%hello%'") == 1)
        }
    }

    @Test(
        "A block or a disabled account changes no answer about earlier messages; new ones are refused"
    )
    func afterBlock() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let inbox = "/api/members/\(bob.id)/records/inbox"
            let sent = try await service.call("PUT", "\(inbox)/m1", as: ada, Self.hello)
            #expect(sent.status == 200)
            let nobody = try await service.call("PUT", "/api/members/nobody/records/inbox/m1", as: ada, Self.hello)
            let ways = [
                "INSERT INTO blocks (user_id, blocked_user_id) VALUES (\(bob.userID), \(ada.userID))",
                "UPDATE users SET disabled_at = now() WHERE id = \(bob.userID)",
            ]
            for way in ways {
                try await service.postgres.write(PostgresQuery(stringLiteral: way))
                let again = try await service.call("PUT", "\(inbox)/m1", as: ada, Self.hello)
                #expect(again.status == 200 && again.text == sent.text, "\(again.text)")
                let other = try await service.call("PUT", "\(inbox)/m1", as: ada, #"{"data":{"other":1}}"#)
                #expect(other.status == 409 && other.code == "message_id_taken")
                for (method, path, body) in [
                    ("PUT", "\(inbox)/new", Self.hello), ("POST", inbox, Self.hello),
                    ("POST", inbox, "[\(Self.hello)]"),
                ] {
                    let refused = try await service.call(method, path, as: ada, body)
                    #expect(refused.status == 404 && refused.text == nobody.text, "\(refused.text)")
                }
            }
            #expect(try await service.count("SELECT count(*) FROM records") == 1)
            #expect(try await service.call("DELETE", "\(inbox)/m1", as: ada).status == 200)
        }
    }

    @Test("The digest of a message has a key: without the secret, a message can't be guessed from it")
    func keyedDigest() throws {
        let data = try JSONValue.parse(#"{"text":"yes"}"#.utf8)
        let digests = ["a secret", "another"].map { SentDigests(secret: $0).digest(of: data, id: "m", to: "ada") }
        #expect(Set(digests).count == 2 && digests.allSatisfy { $0.count == 64 })
    }

    @Test("A sender has at most as much of an inbox as is free, and others can still send")
    func fairRoom() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let eve = try await service.addMember("eve")
            let path = "/api/members/\(bob.id)/records/inbox"
            #expect(try await service.call("POST", path, as: ada, #"{"data":{}}"#).status == 200)
            try await service.postgres.write("UPDATE stream_authors SET record_count = 4999, inbox_count = 4999")
            try await service.postgres.write("UPDATE streams SET inbox_count = 4999 WHERE user_id = \(bob.userID)")
            #expect(try await service.call("POST", path, as: ada, #"{"data":{}}"#).status == 200)
            let full = try await service.call("POST", path, as: ada, #"{"data":{}}"#)
            #expect(full.status == 403 && full.code == "inbox_full", "\(full.text)")
            #expect(try await service.count("SELECT count(*) FROM records") == 2)
            #expect(try await service.call("POST", path, as: eve, #"{"data":{}}"#).status == 200)
        }
    }

    @Test("Other records of a sender that a member reads do not count for the inbox")
    func sharedElsewhere() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let shared = #"{"data":{},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("POST", "/api/records/threads", as: ada, shared).status == 200)
            try await service.postgres.write("UPDATE stream_authors SET record_count = 20000")
            let path = "/api/members/\(bob.id)/records/inbox"
            #expect(try await service.call("POST", path, as: ada, #"{"data":{}}"#).status == 200)
            let counted = try await service.count(
                "SELECT count(*) FROM stream_authors WHERE record_count = 20001 AND inbox_count = 1"
            )
            #expect(counted == 1)
        }
    }

    @Test("Calls that delete from one's own inbox at once, with a hundred each, are all free")
    func parallelDeletion() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]
        try await TestService.runWithSchema(settings: settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.put("inbox/own", as: bob, #"{"data":{}}"#)
            try await service.postgres.write(
                """
                INSERT INTO records (collection_id, recipient_id, id, owner_id, data, byte_count)
                SELECT collection_id, recipient_id, 'm' || n, \(ada.userID), '{}', 2
                FROM records, generate_series(0, 799) AS n WHERE id = 'own'
                """
            )
            try await service.postgres.write(
                """
                INSERT INTO grants (stream_id, collection_id, record_key, rights, seq)
                SELECT stream_id, collection_id, records.key, rights, 10 + records.key
                FROM records JOIN (SELECT stream_id, rights FROM grants LIMIT 1) AS one ON id LIKE 'm%'
                """
            )
            try await withThrowingTaskGroup(of: Int.self) { calls in
                for call in 0..<8 {
                    calls.addTask {
                        let ids = (0..<100).map { "m\(call * 100 + $0)" }.joined(separator: ",")
                        return try await service.call("DELETE", "/api/records/inbox?ids=\(ids)", as: bob).status
                    }
                }
                for try await status in calls { #expect(status == 200) }
            }
            #expect(try await service.ids("inbox", as: bob) == ["own"])
        }
    }

    @Test("Deleting from one's own inbox costs nothing; failed tries do")
    func freeDeletion() async throws {
        let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_RECORD_WRITES_PER_USER": "3/10m", "TRUSTED_PROXIES": "1"]
        try await TestService.runWithSchema(settings: settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let eve = try await service.addMember("eve")
            for (sender, ids) in [(ada, 0..<3), (eve, 3..<6)] {
                for id in ids {
                    let path = "/api/members/\(bob.id)/records/inbox/m\(id)"
                    #expect(try await service.call("PUT", path, as: sender, #"{"data":{}}"#).status == 200)
                }
            }
            for id in 0..<2 {
                #expect(try await service.call("DELETE", "/api/records/inbox/m\(id)", as: bob).status == 200)
            }
            // The other path of one's own inbox, and more than may be written.
            let many = "/api/members/\(bob.id)/records/inbox?ids=m2,m3,m4,m5"
            #expect(try await service.call("DELETE", many, as: bob).json["deleted"] as? Int == 4)
            for expected in [404, 404, 404, 429] {
                #expect(try await service.call("DELETE", "/api/records/inbox/gone", as: bob).status == expected)
            }
            // Other writes have a count of their own.
            let house = #"{"data":{"address":"a"}}"#
            #expect(try await service.call("POST", "/api/records/houses", as: bob, house).status == 200)
        }
    }
}
