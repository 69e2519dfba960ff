import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieCore
@testable import SelfieOperations
@testable import SelfieRecords

/// How records end: with their accounts, by themselves, and after long.
@Suite("Ends of records", .timeLimit(.minutes(3)))
struct RecordEndTests {
    /// Lets the housekeeping run once, as a process does every few minutes.
    static func tidy(_ service: TestService) async {
        let housekeeper = Housekeeper(
            postgres: service.postgres,
            sessionLifetimeHours: 24,
            auditRetentionDays: 90,
            logger: service.log.logger(level: .info)
        )
        await housekeeper.removeExpiredRecords()
        await housekeeper.finishDeletions()
        await housekeeper.tidy()
    }

    @Test("With an account go its records, its inboxes and its grants; other readers get the changes")
    func account() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            let houses = (0..<100).map { #"{"id":"h\#($0)","data":{"address":"a"}}"# }.joined(separator: ",")
            #expect(try await service.call("POST", "/api/records/houses", as: ada, "[\(houses)]").status == 200)
            let more = (100..<130).map { #"{"id":"h\#($0)","data":{"address":"a"}}"# }.joined(separator: ",")
            #expect(try await service.call("POST", "/api/records/houses", as: ada, "[\(more)]").status == 200)
            let calls = [
                ("/api/records/threads/ours", ada, #"{"data":{"value":"ada"},"readers":["\#(bob.id)"]}"#),
                ("/api/records/threads/his", bob, #"{"data":{"value":"bob"},"writers":["\#(ada.id)"]}"#),
                ("/api/members/\(bob.id)/records/inbox/m1", ada, #"{"data":{"text":"from ada"}}"#),
                ("/api/members/\(ada.id)/records/inbox/m2", bob, #"{"data":{"text":"from bob"}}"#),
                ("/api/records/priorities/high", ada, #"{"data":{"name":"High"}}"#),
                ("/api/records/bugs/b1", bob, #"{"data":{"title":"x","priority":"high","assignedUser":"\#(ada.id)"}}"#),
                ("/api/records/news/n1", ada, #"{"data":{"title":"News"}}"#),
            ]
            for (path, member, body) in calls {
                let answer = try await service.call("PUT", path, as: member, body)
                #expect(answer.status == 200, "\(path) \(answer.text)")
            }
            let last = try await service.count("SELECT seq AS count FROM streams WHERE user_id = \(bob.userID)")
            try await Administration(postgres: service.postgres).delete(.id(ada.userID))

            #expect(try await service.ids("threads", as: bob) == ["his"])
            #expect(try await service.ids("inbox", as: bob).isEmpty)
            #expect(try await service.ids("priorities", as: bob).isEmpty)
            #expect(try await service.ids("news", as: bob).isEmpty)
            let bug = try await service.call("GET", "/api/records/bugs/b1", as: bob)
            #expect(bug.data["priority"] as? String == "high" && bug.data["assignedUser"] as? String == ada.id)
            // What refers to nothing any more can still be changed.
            #expect(
                try await service.call("PATCH", "/api/records/bugs/b1", as: bob, #"{"data":{"points":1}}"#).status
                    == 200
            )
            let thread = try await service.call("GET", "/api/records/threads/his", as: bob)
            #expect(thread.json["writers"] as? [String] == [])
            // Ada's thread and message are deleted for Bob, each with a number.
            let ended = try await service.count(
                """
                SELECT count(*) FROM grants JOIN streams ON streams.id = stream_id
                WHERE user_id = \(bob.userID) AND rights = 0 AND grants.seq > \(last)
                """
            )
            #expect(ended == 2)
            for query: PostgresQuery in [
                "SELECT count(*) FROM users WHERE id = \(ada.userID)",
                "SELECT count(*) FROM streams WHERE user_id = \(ada.userID)",
                "SELECT count(*) FROM records WHERE owner_id = \(ada.userID) AND data IS NOT NULL",
                "SELECT count(*) FROM records WHERE recipient_id = \(ada.userID) AND data IS NOT NULL",
                "SELECT count(*) FROM grants WHERE stream_id NOT IN (SELECT id FROM streams)",
                "SELECT count(*) FROM record_index WHERE stream_id NOT IN (SELECT id FROM streams)",
            ] {
                let count = try await service.count(query)
                #expect(count == 0, "\(query.sql)")
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("A deletion interrupted by a crash is finished; until then the user can't sign in")
    func interrupted() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            #expect(
                try await service.call("PUT", "/api/records/houses/h", as: ada, #"{"data":{"address":"a"}}"#).status
                    == 200
            )
            // As it is after the account was closed, and before the first batch.
            try await service.postgres.write(
                "UPDATE users SET disabled_at = now(), leaving_since = now() WHERE id = \(ada.userID)"
            )
            let users = Administration(postgres: service.postgres)
            #expect(try await users.enable(.id(ada.userID)) == false)
            await Self.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data IS NOT NULL") == 0)
        }
    }

    @Test("A user with very many grants and no records is deleted in steps, and after a crash resumed")
    func manyGrants() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let body = #"{"data":{},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("PUT", "/api/records/threads/t", as: ada, body).status == 200)
            try await service.postgres.write(
                """
                INSERT INTO grants (stream_id, collection_id, record_key, rights)
                SELECT stream_id, grants.collection_id, 1000000 + n, 1
                FROM grants JOIN streams ON streams.id = stream_id, generate_series(1, 5000) AS n
                WHERE user_id = \(bob.userID)
                """
            )
            try await service.postgres.write(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END$$
                """
            )
            try await service.postgres.write(
                "CREATE TRIGGER refused BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
            let users = Administration(postgres: service.postgres)
            await #expect(throws: (any Error).self) { try await users.delete(.id(bob.userID)) }
            // The account is closed, and its grants are deleted already.
            #expect(try await service.count("SELECT count(*) FROM users WHERE leaving_since IS NOT NULL") == 1)
            #expect(try await service.count("SELECT count(*) FROM grants WHERE rights = 1") == 0)
            #expect(try await service.call("GET", "/api/me", as: bob).status == 401)
            try await service.postgres.write("DROP TRIGGER refused ON users")
            await Self.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            #expect(
                try await service.call("PATCH", "/api/records/threads/t", as: ada, #"{"data":{"x":1}}"#).status == 200
            )
        }
    }

    @Test("A record whose owner's row was removed by hand does not stop the housekeeping")
    func orphans() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            for (path, member) in [("records/houses/h", ada), ("members/\(bob.id)/records/inbox/m", ada)] {
                let answer = try await service.call("PUT", "/api/\(path)", as: member, #"{"data":{"address":"a"}}"#)
                #expect(answer.status == 200)
            }
            #expect(
                try await service.call("PUT", "/api/records/houses/b", as: bob, #"{"data":{"address":"b"}}"#).status
                    == 200
            )
            try await service.postgres.write("DELETE FROM users WHERE id = \(ada.userID)")
            try await service.postgres.write("UPDATE records SET expires_at = now() - interval '1 hour'")
            // More of them than are looked at together, all of which have ended before the one that can be deleted.
            try await service.postgres.write(
                """
                INSERT INTO records (collection_id, id, owner_id, data, byte_count, expires_at)
                SELECT collection_id, 'h' || n, owner_id, '{}', 2, expires_at - interval '1 hour'
                FROM records, generate_series(1, 100) AS n WHERE id = 'h'
                """
            )
            await Self.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM records WHERE deleted_at IS NOT NULL") == 1)
            try await Administration(postgres: service.postgres).delete(.id(bob.userID))
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("After receipt and deletion, a dump of the database holds no word of a message")
    func dump() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let secret = "nightingale in the garden"
            let path = "/api/members/\(bob.id)/records/inbox/m1"
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"text":"\#(secret)"}}"#).status == 200)
            #expect(try await DatabaseDump.lines(url: service.databaseURL).contains { $0.contains(secret) })
            #expect(try await service.call("GET", "/api/records/inbox/m1", as: bob).data["text"] as? String == secret)
            #expect(try await service.call("DELETE", "/api/records/inbox/m1", as: bob).status == 200)
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"text":"\#(secret)"}}"#).status == 200)
            #expect(
                try await DatabaseDump.lines(url: service.databaseURL).contains { $0.contains("nightingale") } == false
            )
        }
    }

    @Test("Expired records are deleted, and tombstones are removed after 30 days")
    func tidying() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            for id in ["t1", "t2", "t3"] {
                let put = try await service.call(
                    "PUT",
                    "/api/records/threads/\(id)",
                    as: ada,
                    #"{"data":{},"readers":["\#(bob.id)"],"expires_at":"2999-01-01T00:00:00Z"}"#
                )
                #expect(put.status == 200)
            }
            try await service.postgres.write("UPDATE records SET expires_at = now() AT TIME ZONE 'UTC' WHERE id = 't1'")
            await Self.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data IS NULL") == 1)
            #expect(
                try await service.count("SELECT count(*) FROM grants WHERE rights = 0 AND ended_at IS NOT NULL") == 2
            )
            #expect(try await service.call("DELETE", "/api/records/threads/t2", as: ada).status == 200)
            // The first was deleted 31 days ago, the second 29.
            try await service.postgres.write(
                """
                WITH moved AS (
                    UPDATE records SET deleted_at = deleted_at - CASE id WHEN 't1' THEN interval '31 days'
                        ELSE interval '29 days' END WHERE deleted_at IS NOT NULL RETURNING key, deleted_at
                )
                UPDATE grants SET ended_at = deleted_at FROM moved WHERE record_key = key
                """
            )
            await Self.tidy(service)
            #expect(try await service.count("SELECT count(*) FROM records WHERE data IS NULL") == 1)
            #expect(try await service.count("SELECT count(*) FROM grants WHERE rights = 0") == 2)
            let forgotten = try await service.count(
                "SELECT count(*) FROM streams WHERE forgotten_seq = 4 AND user_id IN (\(ada.userID), \(bob.userID))"
            )
            #expect(forgotten == 2)
            try await service.expectSoundStreams()
        }
    }

    @Test("Grants that give something are not before those that are forgotten, however long ago they ended")
    func forgettable() async throws {
        try await TestService.runWithSchema { service in
            try await service.postgres.write(
                """
                INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, ended_at)
                SELECT 1, 1, n, CASE WHEN n > 5000 THEN 0 ELSE 4 END, n, now() - interval '40 days' - n * interval '-1 second'
                FROM generate_series(1, 5010) AS n
                """
            )
            try await service.postgres.write("ANALYZE grants")
            let plan: [String] = try await service.postgres.withConnection { connection in
                try await connection.query("EXPLAIN (ANALYZE, TIMING OFF) \(part: RecordCleaning.forgettable)").map {
                    try $0.decode("QUERY PLAN")
                }
            }
            let text = plan.joined(separator: "\n")
            #expect(text.contains("rows=10 ") && !text.contains("Rows Removed by Filter"), "\(text)")
        }
    }

    @Test("A user has 100,000 records at most, and an inbox 10,000; writes and sends have limits")
    func limits() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.postgres.write(
                "UPDATE streams SET record_count = 99999 WHERE user_id = \(ada.userID)"
            )
            let two = #"[{"data":{"address":"a"}},{"data":{"address":"a"}}]"#
            let refused = try await service.call("POST", "/api/records/houses", as: ada, two)
            #expect(refused.status == 403 && refused.code == "record_quota_reached")
            #expect(try await service.ids("houses", as: ada).isEmpty)
            let one = #"{"data":{"address":"a"}}"#
            #expect(try await service.call("POST", "/api/records/houses", as: ada, one).status == 200)
            #expect(try await service.call("POST", "/api/records/houses", as: ada, one).status == 403)
            try await service.postgres.write(
                """
                UPDATE streams SET record_count = 0, inbox_count = CASE WHEN user_id = \(bob.userID)
                    THEN 9999 ELSE 0 END
                """
            )
            let path = "/api/members/\(bob.id)/records/inbox"
            #expect(try await service.call("POST", path, as: ada, #"{"data":{}}"#).status == 200)
            let full = try await service.call("POST", path, as: ada, #"{"data":{}}"#)
            #expect(full.status == 403 && full.code == "inbox_full")
        }
    }

    @Test("600 records in 10 minutes may be written, and 300 sent or shared; unchanged readers do not count again")
    func rates() async throws {
        try await TestService.runWithSchema(settings: ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            let shared =
                "[\(Array(repeating: #"{"data":{},"readers":["\#(bob.id)","\#(cleo.id)"]}"#, count: 100).joined(separator: ","))]"
            #expect(try await service.call("POST", "/api/records/threads", as: ada, shared).status == 200)
            let ids = (0..<100).map { #"{"id":"s\#($0)","data":{},"readers":["\#(bob.id)"]}"# }.joined(separator: ",")
            #expect(try await service.call("POST", "/api/records/threads", as: ada, "[\(ids)]").status == 200)
            let sent = try await service.call("POST", "/api/members/\(bob.id)/records/inbox", as: ada, #"{"data":{}}"#)
            #expect(sent.status == 429 && sent.headers["ratelimit-limit"] == "300", "\(sent.text)")
            // A present reader does not count as a send.
            let kept = try await service.call(
                "PATCH",
                "/api/records/threads/s1",
                as: ada,
                #"{"data":{"x":1},"readers":["\#(bob.id)"]}"#
            )
            #expect(kept.status == 200, "\(kept.text)")
            let added = try await service.call(
                "PATCH",
                "/api/records/threads/s1",
                as: ada,
                #"{"readers":["\#(bob.id)","\#(cleo.id)"]}"#
            )
            #expect(added.status == 429)
            let plain = "[\(Array(repeating: #"{"data":{"address":"a"}}"#, count: 100).joined(separator: ","))]"
            for _ in 0..<3 {
                #expect(try await service.call("POST", "/api/records/houses", as: ada, plain).status == 200)
            }
            // 501 are counted by now, and whatever is refused is not.
            let tooMany = try await service.call("POST", "/api/records/houses", as: ada, plain)
            #expect(tooMany.status == 429 && tooMany.headers["ratelimit-limit"] == "600")
            let rest = "[\(Array(repeating: #"{"data":{"address":"a"}}"#, count: 99).joined(separator: ","))]"
            #expect(try await service.call("POST", "/api/records/houses", as: ada, rest).status == 200)
            let oneMore = #"{"data":{"address":"a"}}"#
            #expect(try await service.call("POST", "/api/records/houses", as: ada, oneMore).status == 429)
            #expect(try await service.ids("houses", as: ada).count == 399)
        }
    }

    @Test("100 readers may be named, and no more")
    func readers() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await service.postgres.write(
                """
                INSERT INTO users (first_name, last_name, email, password_hash)
                SELECT 'A', 'B', 'u' || n || '@example.com', 'none' FROM generate_series(1, 101) AS n
                """
            )
            let ids: [String] = try await service.postgres.read("SELECT member_id FROM users WHERE id <> \(ada.userID)")
                .map { try $0.decode("member_id") }
            func body(_ count: Int) -> String {
                #"{"data":{},"readers":[\#(ids.prefix(count).map { "\"\($0)\"" }.joined(separator: ","))]}"#
            }
            let most = try await service.call("PUT", "/api/records/threads/t", as: ada, body(100))
            #expect((most.json["readers"] as? [String])?.count == 100, "\(most.text)")
            #expect(try await service.call("PUT", "/api/records/threads/u", as: ada, body(101)).status == 400)
            let writer = try await service.call(
                "PATCH",
                "/api/records/threads/t",
                as: ada,
                #"{"writers":["\#(ids[100])"]}"#
            )
            #expect(writer.status == 400 && writer.code == "too_many_readers", "\(writer.text)")
        }
    }
}
