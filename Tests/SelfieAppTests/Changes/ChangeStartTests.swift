import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieRecords

@Suite("Changes after many starts of PostgreSQL", .timeLimit(.minutes(1)))
struct ChangeStartTests {
    private static let dayMicroseconds = 86_400_000_000

    /// Has all that was done so far be done under a start of PostgreSQL a day before, which clients with cursors know.
    private static func start(_ postgres: PostgresClient, _ cursors: inout [String]) async throws {
        try await postgres.write("UPDATE streams SET started_at = started_at - INTERVAL '1 day'")
        try await postgres.write("UPDATE stream_starts SET started_at = started_at - INTERVAL '1 day'")
        cursors = try cursors.map { text in
            let cursor = try #require(ChangeCursor(text))
            var aged = ChangeCursor(epoch: aged(cursor.epoch), filter: cursor.filter)
            for (stream, position) in cursor.positions {
                // As if it had begun where it is now.
                aged.move(stream, to: position.number, end: StreamEnd(number: position.number, postgresStart: 0))
                let start = position.end.postgresStart - dayMicroseconds
                aged.move(
                    stream,
                    to: position.number,
                    end: StreamEnd(number: position.end.number, postgresStart: start)
                )
            }
            return aged.text
        }
    }

    private static func aged(_ epoch: ChangeEpoch) -> ChangeEpoch {
        ChangeEpoch(
            database: epoch.database,
            postgresStart: epoch.postgresStart - dayMicroseconds,
            schemaVersion: epoch.schemaVersion,
            clearedVersion: epoch.clearedVersion
        )
    }

    private static func change(_ id: String, _ service: TestService, _ member: TestMember) async throws {
        try await service.put("houses/\(id)", as: member, #"{"data":{"address":"a"}}"#)
    }

    @Test("A cursor works over the last fifteen starts under which its stream changed, and begins again before")
    func many() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            var cursors: [String] = []
            for number in 0..<20 {
                try await Self.change("h\(number)", service, ada)
                cursors.append(try await service.changes("", as: ada).cursor)
                try await Self.start(service.postgres, &cursors)
            }
            // Under this one, somebody reads, and nothing changes.
            try await Self.start(service.postgres, &cursors)
            #expect(try await service.changes("?since=\(cursors[19])", as: ada).summaries.isEmpty)
            try await Self.change("last", service, ada)
            var answers: [HTTPAnswer] = []
            for cursor in cursors { answers.append(try await service.changes("?since=\(cursor)&limit=1", as: ada)) }
            #expect(answers.map(\.status) == Array(repeating: 410, count: 5) + Array(repeating: 200, count: 15))
            #expect(answers[..<5].allSatisfy { $0.code == "changes_database" })
            #expect(answers[18].summaries == ["created houses h19"] && answers[19].summaries == ["created houses last"])
            let kept = try await service.postgres.read(
                "SELECT count(*)::int8 AS count FROM stream_starts GROUP BY stream_id ORDER BY 1 DESC"
            )
            #expect(try kept.first?.decode("count", as: Int.self) == 16)
        }
    }

    @Test("Changes lost several starts ago are detected, and cursors from before the loss still work")
    func lost() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await Self.change("kept", service, ada)
            let kept = try await service.changes("", as: ada).cursor
            let seq: PostgresQuery = "SELECT seq FROM streams WHERE user_id = \(ada.userID)"
            let before: Int = try await service.postgres.read(seq)[0].decode("seq")
            try await Self.change("lost", service, ada)
            var cursors = [kept, try await service.changes("", as: ada).cursor]
            // As an older copy of the folder would have it.
            try await service.postgres.write(
                "DELETE FROM grants USING streams WHERE streams.id = stream_id AND user_id = \(ada.userID) AND grants.seq > \(before)"
            )
            try await service.postgres.write("UPDATE streams SET seq = \(before) WHERE user_id = \(ada.userID)")
            for number in 0..<3 {
                try await Self.start(service.postgres, &cursors)
                #expect(try await service.changes("?since=\(cursors[1])", as: ada).code == "changes_database")
                try await Self.change("new\(number)", service, ada)
                #expect(try await service.changes("?since=\(cursors[1])", as: ada).code == "changes_database")
                #expect(try await service.changes("?since=\(cursors[0])", as: ada).changes.count == number + 1)
            }
        }
    }

    @Test("A copy that is older than another restored one is found out, too: its numbers are of an earlier start")
    func twoCopies() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            // What the second copy has.
            for number in 0..<3 { try await Self.change("h\(number)", service, ada) }
            var cursors = [try await service.changes("", as: ada).cursor]
            try await Self.start(service.postgres, &cursors)
            // Clients of the first copy, which lived under a start that the second one does not know.
            let known = try #require(ChangeCursor(cursors[0]))
            var unknown = ChangeCursor(epoch: known.epoch, filter: nil)
            for (stream, position) in known.positions where position.number > 1 {
                unknown.move(stream, to: 2, end: StreamEnd(number: 2, postgresStart: position.end.postgresStart + 1))
            }
            #expect(try await service.changes("?since=\(unknown.text)", as: ada).code == "changes_database")
            #expect(try await service.changes("?since=\(cursors[0])", as: ada).status == 200)
        }
    }

    @Test("A client that has passed a position to which a change returns begins again")
    func comesBack() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for number in 0..<4 { try await Self.change("h\(number)", service, ada) }
            let whole = try await service.changes("", as: ada).cursor
            try await service.postgres.write("CREATE TABLE old_streams AS SELECT id, seq FROM streams")
            try await service.postgres.write("CREATE TABLE old_grants AS SELECT record_key, stream_id, seq FROM grants")
            // It moves to the end, after which the client reads what was behind it.
            try await Self.change("h0", service, ada)
            let cut = try await service.changes("?limit=2", as: ada)
            #expect(cut.summaries == ["created houses h1", "created houses h2"])
            // As an older copy of the folder would have it.
            try await service.postgres.write(
                """
                UPDATE grants SET seq = old_grants.seq FROM old_grants
                WHERE grants.record_key = old_grants.record_key AND grants.stream_id = old_grants.stream_id
                """
            )
            try await service.postgres.write(
                "UPDATE streams SET seq = old_streams.seq FROM old_streams WHERE streams.id = old_streams.id"
            )
            var cursors = [whole, cut.cursor]
            try await Self.start(service.postgres, &cursors)
            try await Self.change("h9", service, ada)
            #expect(try await service.changes("?since=\(cursors[1])", as: ada).code == "changes_database")
            #expect(try await service.changes("?since=\(cursors[0])", as: ada).summaries == ["created houses h9"])
        }
    }

    @Test("A connected client reads again after a start, even when all numbers are the same")
    func sameNumbers() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let follow = FollowChanges(postgres: service.postgres)
            let reader = ChangeReader(userID: ada.userID, sessionID: nil)
            let batch = try await follow.store.read(ChangeQuery(collections: nil), from: .beginning, by: reader)
            let listener = ChangeListener(reader)
            follow.hub.add(listener)
            follow.hub.move(listener, to: batch)
            try await follow.hub.compareAll()
            #expect(listener.news == ChangeListener.News())
            // It has read before PostgreSQL was started.
            var earlier = ChangeCursor(epoch: Self.aged(batch.end.epoch), filter: nil)
            for stream in batch.end.positions.keys { earlier.takePosition(in: stream, of: batch.end) }
            listener.position = ChangeBatch(
                changes: [],
                from: earlier,
                to: earlier,
                hasMore: false,
                access: batch.access
            )
            try await follow.hub.compareAll()
            #expect(listener.news.needsRead)
        }
    }

    @Test("A cursor of an older version begins again")
    func olderVersion() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for cursor in ["AgEAAAA", "AfjD-dbdntHULQAAAQEC"] {
                let answer = try await service.changes("?since=\(cursor)", as: ada)
                #expect(answer.status == 410 && answer.code == "changes_database")
                try await EventClient.open(service, as: ada, headers: ["Last-Event-ID: \(cursor)"]) { client in
                    let summary = try await client.next()?.summary
                    #expect(summary == "reset database")
                }
            }
        }
    }

    @Test("After a copy replaces the database, even without a restart, all cursors begin again")
    func copy() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await Self.change("kept", service, ada)
            let kept = try await service.changes("", as: ada).cursor
            try await TestCluster.withCopy(of: service.databaseURL) { copyURL in
                let lost = try await found("an answer") {
                    let call = ("PUT", "/api/records/houses/lost", #"{"data":{"address":"a"}}"#)
                    let headers = [("Authorization", "Bearer \(ada.token)"), ("Content-Type", "application/json")]
                    let answer = try await service.send(call.0, call.1, headers: headers, body: Data(call.2.utf8))
                    return answer.status == 200 ? try await service.changes("", as: ada).cursor : nil
                }
                try await TestService.run(databaseURL: copyURL, settings: ["RATE_LIMITS": "off"]) { copy in
                    for id in ["new", "newer"] { try await Self.change(id, copy, ada) }
                    for cursor in [kept, lost] {
                        #expect(try await copy.changes("?since=\(cursor)", as: ada).code == "changes_database")
                    }
                    let new = try await copy.changes("", as: ada)
                    #expect(new.changes.count == 3)
                    #expect(try await copy.changes("?since=\(new.cursor)", as: ada).status == 200)
                }
            }
        }
    }
}
