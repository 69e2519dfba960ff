import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieRecords

@Suite("Changes as pages", .timeLimit(.minutes(3)))
struct ChangePageTests {
    @Test("What one stream shows no more, and another still does, is not deleted")
    func shownElsewhere() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada", role: "team"), try await service.addMember("bob"))
            try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
            try await service.put("threads/t", as: bob, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            let cursor = try await service.changes("", as: ada).cursor
            // A role shows the thread from now on, and its reader is one no more.
            let role = "SELECT id FROM streams WHERE role_id IN (SELECT role_id FROM role_members)"
            try await service.postgres.withConnection { connection in
                try await connection.execute(
                    script: """
                        INSERT INTO grants (collection_id, record_key, stream_id, rights, seq, shown_seq)
                        SELECT collection_id, key, (\(role)), 1, 1000, 1000 FROM records WHERE id = 't';
                        UPDATE grants SET rights = 0, seq = 1000, shown_seq = NULL
                        WHERE record_key IN (SELECT key FROM records WHERE id = 't')
                            AND stream_id IN (SELECT id FROM streams WHERE user_id = \(ada.userID));
                        UPDATE streams SET seq = 1000 WHERE user_id = \(ada.userID) OR id IN (\(role));
                        """
                )
            }
            let changes = try await service.changes("?since=\(cursor)", as: ada)
            #expect(changes.summaries == ["created threads t"])
            // A page may end between the two streams. A reader who got the record from one gets its end from the other.
            var cut = try #require(ChangeCursor(changes.cursor))
            let stream = try await service.count(
                "SELECT id AS count FROM streams WHERE role_id = (SELECT id FROM roles WHERE name = 'team')"
            )
            cut.move(stream, to: 0, end: StreamEnd(number: 0, postgresStart: 0))
            #expect(try await service.call("DELETE", "/api/records/threads/t", as: bob).status == 200)
            #expect(try await service.changes("?since=\(cut.text)", as: ada).summaries == ["deleted threads t"])
            // Others get no deletion of a record that they never had.
            let eve = try await service.addMember("eve", role: "team")
            #expect(try await service.changes("", as: eve).summaries.isEmpty)
        }
    }

    @Test("Records created, changed and deleted since come once each, at their last position")
    func kinds() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.upload(as: ada)
            try await service.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            try await service.put("houses/h2", as: ada, #"{"data":{"address":"b"}}"#)
            try await service.put("threads/t", as: bob, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            try await service.put("news/n", as: bob, #"{"data":{"title":"n"}}"#)
            let all = try await service.changes("", as: ada)
            #expect(
                Set(all.summaries) == [
                    "created photos \(photo)", "created houses h1", "created houses h2", "created threads t",
                    "created news n",
                ]
            )
            #expect(all.json["more"] as? Bool == false && all.headers["cache-control"] == "no-store")
            #expect(try await service.changes("?since=\(all.cursor)", as: ada).summaries.isEmpty)

            try await service.put("houses/h1", as: ada, #"{"data":{"address":"c"}}"#)
            try await service.put("houses/h3", as: ada, #"{"data":{"address":"d"}}"#)
            try await service.put("houses/h3", as: ada, #"{"data":{"address":"e"}}"#)
            #expect(try await service.call("DELETE", "/api/records/houses/h2", as: ada).status == 200)
            #expect(
                try await service.call("PATCH", "/api/records/threads/t", as: bob, #"{"readers":[]}"#).status == 200
            )
            #expect(try await service.call("DELETE", "/api/delete_photo?photo_id=\(photo)", as: ada).status == 200)
            let next = try await service.changes("?since=\(all.cursor)", as: ada)
            #expect(
                next.summaries == [
                    "updated houses h1", "created houses h3", "deleted houses h2", "deleted threads t",
                    "deleted photos \(photo)",
                ]
            )
            // A deletion has only the collection and the id.
            for change in next.changes where change["type"] as? String == "deleted" { #expect(change.count == 3) }
            let house = try #require(next.changes[1]["record"] as? [String: Any])
            #expect((house["data"] as? [String: Any])?["address"] as? String == "e" && house["version"] as? Int == 2)
            // A client that begins again gets no deletions.
            let anew = try await service.changes("", as: ada)
            #expect(Set(anew.summaries) == ["created houses h1", "created houses h3", "created news n"])
        }
    }

    @Test("Pages follow each other without a gap, from all streams in turn; collections leave others out")
    func pages() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            for number in 0..<9 {
                try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"a"}}"#)
                try await service.put("news/n\(number)", as: ada, #"{"data":{"title":"n"}}"#)
                try await service.put("priorities/p\(number)", as: ada, #"{"data":{"name":"p"}}"#)
            }
            for limit in [1, 2, 7, 27, 28, 500] {
                var (seen, since, rounds): ([String], String, Int) = ([], "", 0)
                while rounds < 40 {
                    let page = try await service.changes("?limit=\(limit)\(since)", as: ada)
                    #expect(page.changes.count <= limit)
                    seen += page.summaries
                    since = "&since=\(page.cursor)"
                    rounds += 1
                    if page.json["more"] as? Bool == false { break }
                }
                #expect(seen.count == 27 && Set(seen).count == 27, "\(limit)")
                #expect(rounds == (27 + limit - 1) / limit)
                if limit == 7 { #expect(Set(seen.prefix(3).map { $0.split(separator: " ")[1] }).count == 3) }
            }
            let houses = try await service.changes("?collections=houses,photos&limit=5", as: ada)
            #expect(houses.changes.count == 5 && houses.json["more"] as? Bool == true)
            let rest = try await service.changes("?collections=photos,houses&since=\(houses.cursor)", as: ada)
            #expect(rest.summaries == (5..<9).map { "created houses h\($0)" })
            // Whatever others wrote meanwhile is behind the cursor.
            let cursor = try #require(ChangeCursor(rest.cursor))
            let sum = try await service.count("SELECT sum(seq)::bigint AS count FROM streams WHERE seq > 0")
            #expect(cursor.positions.values.map(\.number).reduce(0, +) == sum)
            let other = try await service.changes("?since=\(rest.cursor)", as: ada)
            #expect(other.status == 410 && other.code == "changes_collections")
            for (query, code) in [
                ("?limit=0", "limit_invalid"), ("?limit=501", "limit_invalid"), ("?wait=26", "wait_invalid"),
                ("?since=!", "since_invalid"), ("?collections=a,,b", "collections_invalid"),
                ("?collections=none", "collection_not_found"),
            ] {
                #expect(try await service.changes(query, as: ada).code == code)
            }
        }
    }

    @Test("now begins with what changes from now on; wait answers as soon as there is something")
    func waiting() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await first.addMember("ada")
            try await first.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            let now = try await first.changes("?since=now", as: ada)
            #expect(now.summaries.isEmpty)
            let begun = try await Self.time(second)
            async let waiting = second.changes("?since=\(now.cursor)&wait=25", as: ada)
            try await Self.expectReading(second, since: begun)
            try await first.put("houses/h2", as: ada, #"{"data":{"address":"b"}}"#)
            #expect(try await waiting.summaries == ["created houses h2"])
            let empty = try await second.changes("?since=now&wait=1", as: ada)
            #expect(empty.status == 200 && empty.summaries.isEmpty)
            // Nothing is lost between two calls.
            try await first.put("houses/h3", as: ada, #"{"data":{"address":"c"}}"#)
            let next = try await second.changes("?since=\(empty.cursor)&wait=25", as: ada)
            #expect(next.summaries == ["created houses h3"])
            // A user who is signed out meanwhile gets 401, and a request to a stopping process is answered.
            let (bob, eve) = (try await first.addMember("bob"), try await first.addMember("eve"))
            let then = try await Self.time(second)
            async let ended = second.changes("?since=now&wait=25", as: bob)
            try await Self.expectReading(second, since: then)
            async let stopped = second.changes("?since=now&wait=25", as: eve)
            #expect(try await first.call("GET", "/api/clear_token", as: bob).status == 200)
            #expect(try await ended.status == 401)
            await second.beginShutdown()
            let last = try await stopped
            #expect(last.status == 200 && last.summaries.isEmpty, "\(last.text)")
        }
    }

    private static func time(_ service: TestService) async throws -> String {
        try await service.postgres.read("SELECT clock_timestamp()::text AS time")[0].decode("time")
    }

    /// Waits until somebody has read changes.
    private static func expectReading(_ service: TestService, since time: String) async throws {
        try await poll("a client has read, and waits") {
            try await service.count(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle'
                AND query LIKE '%WITH asked AS%' AND query_start > \(time)::text::timestamptz
                """
            ) > 0
        }
    }

    @Test("A client whose token expires while the call waits gets 401, and skips nothing")
    func expired() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cursor = try await service.changes("", as: ada).cursor
            try await service.postgres.write(
                "UPDATE sessions SET expires_at = \(service.clock.now + 3_600) WHERE user_id = \(ada.userID)"
            )
            let begun = try await Self.time(service)
            async let waiting = service.changes("?since=\(cursor)&wait=25", as: ada)
            try await Self.expectReading(service, since: begun)
            service.clock.advance(by: 2 * 3_600)
            try await service.put("news/n", as: bob, #"{"data":{"title":"n"}}"#)
            let answer = try await waiting
            #expect(answer.status == 401 && answer.code == "token_expired", "\(answer.text)")
        }
    }

    @Test("A cursor is refused when its reader has lost a role, or when a collection was removed")
    func lostAccess() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            try await service.put("priorities/p", as: ada, #"{"data":{"name":"p"}}"#)
            try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
            let before = try await service.changes("", as: ada)
            #expect(before.changes.count == 2)
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            #expect(try await service.changes("?since=\(before.cursor)", as: ada).code == "changes_access")
            let without = try await service.changes("", as: ada)
            #expect(without.summaries == ["created houses h"])
            try await service.postgres.write("UPDATE roles SET disabled_at = NULL WHERE name = 'team'")
            // What comes back is new.
            let again = try await service.changes("?since=\(without.cursor)", as: ada)
            #expect(again.summaries == ["created priorities p"])
            let schema = try TestService.exampleSchema.replacing(#""inbox": {"access": "inbox"},"#, with: "")
            try await service.apply(schema)
            #expect(try await service.changes("?since=\(again.cursor)", as: ada).code == "changes_access")
        }
    }

    @Test("A cursor from before the removed tombstones begins again, and one at them does not")
    func forgotten() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await service.put("houses/h1", as: ada, #"{"data":{"address":"a"}}"#)
            let first = try await service.changes("", as: ada)
            #expect(try await service.call("DELETE", "/api/records/houses/h1", as: ada).status == 200)
            let second = try await service.changes("?since=\(first.cursor)", as: ada)
            #expect(second.summaries == ["deleted houses h1"])
            try await service.postgres.write("UPDATE records SET deleted_at = deleted_at - interval '31 days'")
            try await service.postgres.write("UPDATE grants SET ended_at = ended_at - interval '31 days'")
            try await RecordCleaning(postgres: service.postgres, notifier: nil).forgetDeleted()
            // The name of what was deleted is kept for as long as somebody may ask.
            #expect(try await service.changes("?since=\(first.cursor)", as: ada).summaries == ["deleted houses h1"])
            try await RecordCleaning(postgres: service.postgres, notifier: nil).forgetEnded()
            try await RecordCleaning(postgres: service.postgres, notifier: nil).forgetDeleted()
            #expect(try await service.count("SELECT count(*) FROM records") == 0)
            #expect(try await service.changes("?since=\(first.cursor)", as: ada).code == "changes_forgotten")
            #expect(try await service.changes("?since=\(second.cursor)", as: ada).status == 200)
        }
    }

    @Test("A client that begins without a cursor gets all pages, though tombstones behind them were removed")
    func forgottenBehind() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            for number in 0..<5 {
                try await service.put("houses/h\(number)", as: ada, #"{"data":{"address":"a"}}"#)
                try await service.put("priorities/p\(number)", as: ada, #"{"data":{"name":"p"}}"#)
            }
            // A record that has moved was never sent, either.
            try await service.put("houses/h0", as: ada, #"{"data":{"address":"b"}}"#)
            let old = try await service.changes("?limit=1", as: ada)
            for (path, data) in [("houses/gone", #"{"address":"a"}"#), ("priorities/gone", #"{"name":"p"}"#)] {
                try await service.put(path, as: ada, #"{"data":\#(data)}"#)
                #expect(try await service.call("DELETE", "/api/records/\(path)", as: ada).status == 200)
            }
            try await service.postgres.write("UPDATE grants SET ended_at = ended_at - interval '31 days'")
            try await RecordCleaning(postgres: service.postgres, notifier: nil).forgetEnded()
            #expect(try await service.count("SELECT count(*) FROM streams WHERE forgotten_seq > 5") == 2)
            for (path, data) in [("houses/ended", #"{"address":"a"}"#), ("priorities/ended", #"{"name":"p"}"#)] {
                try await service.put(path, as: ada, #"{"data":\#(data)}"#)
                #expect(try await service.call("DELETE", "/api/records/\(path)", as: ada).status == 200)
            }
            for limit in [1, 2, 5] {
                var (seen, page): ([String], HTTPAnswer) = ([], try await service.changes("?limit=\(limit)", as: ada))
                for _ in 0..<20 {
                    #expect(page.status == 200, "\(page.text)")
                    seen += page.summaries
                    guard page.json["more"] as? Bool == true else { break }
                    page = try await service.changes("?limit=\(limit)&since=\(page.cursor)", as: ada)
                }
                // What ended before, the client never had.
                let expected = (0..<5).flatMap { ["created houses h\($0)", "created priorities p\($0)"] }
                #expect(Set(seen) == Set(expected) && seen.count == 10, "\(limit): \(seen)")
            }
            // What was forgotten may be what this one had.
            #expect(try await service.changes("?since=\(old.cursor)", as: ada).code == "changes_forgotten")
        }
    }
}
