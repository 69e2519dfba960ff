import ConnectionTestSupport
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

@Suite("Look-ups of the next change", .timeLimit(.minutes(2)))
struct NextChangeTests {
    /// Somebody who reads a stream that nobody else reads, and what may look there.
    private struct Reader {
        let store: ChangeStore
        let reader: ChangeReader
        let stream: Int
        var cursor: ChangeCursor

        init(_ service: TestService, _ member: TestMember) async throws {
            store = FollowChanges(postgres: service.postgres).store
            let session = try #require(try await SessionStore(postgres: service.postgres).find(token: member.token))
            reader = ChangeReader(userID: member.userID, sessionID: session.id)
            let batch = try await store.read(ChangeQuery(collections: nil), from: .beginning, by: reader)
            (stream, cursor) = (batch.ownStream, batch.end)
        }

        func next() async throws -> ChangeBatch? {
            try await store.next(after: cursor, in: stream, by: reader)
        }
    }

    private static func withReader(
        _ body: @Sendable (TestService, _ owner: TestMember, _ member: TestMember, Reader) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema { service in
            let (owner, ada) = (try await service.addMember("owner"), try await service.addMember("ada"))
            try await service.put("houses/first", as: ada, #"{"data":{"address":"a"}}"#)
            try await body(service, owner, ada, try await Reader(service, ada))
        }
    }

    @Test("It gives one change after the other, and says whether there are more")
    func oneByOne() async throws {
        try await Self.withReader { service, owner, ada, start in
            var reader = start
            #expect(try #require(try await reader.next()).changes.isEmpty)
            try await service.put("threads/t", as: owner, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            let photo = try await service.upload(as: ada)
            try await service.put("houses/first", as: ada, #"{"data":{"address":"b"}}"#)
            let expected = [("created", "t", true), ("created", photo, true), ("updated", "first", false)]
            for (kind, id, hasMore) in expected {
                let batch = try #require(try await reader.next())
                #expect(batch.changes.map(\.id) == [id] && batch.changes.map(\.kind.rawValue) == [kind])
                #expect(batch.hasMore == hasMore && batch.sessionExpiry != nil)
                reader.cursor = batch.end
            }
            // Readers are the owner's to see.
            let first = try #require(try await start.next()?.changes.first)
            if case .record(let record) = first.content {
                #expect(record.readers == nil && record.owner == owner.id)
            } else {
                Issue.record("no record")
            }
            #expect(try await service.call("DELETE", "/api/records/houses/first", as: ada).status == 200)
            let deleted = try #require(try await reader.next()?.changes.first)
            #expect(deleted.kind == .deleted && deleted.isGone)
        }
    }

    @Test("It gives nothing where the whole statement must tell what has happened")
    func doubts() async throws {
        try await Self.withReader { service, owner, ada, reader in
            try await service.put("threads/t", as: owner, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            let postgres = service.postgres
            var (restored, cleared, ahead) = (reader, reader, reader)
            restored.cursor = ChangeCursor(
                mark: reader.cursor.mark + 1,
                clearedVersion: reader.cursor.clearedVersion,
                filter: 0,
                positions: reader.cursor.positions
            )
            cleared.cursor = ChangeCursor(
                mark: reader.cursor.mark,
                clearedVersion: reader.cursor.clearedVersion + 1,
                filter: 0,
                positions: reader.cursor.positions
            )
            ahead.cursor.move(reader.stream, to: 1_000)
            for other in [restored, cleared, ahead] { #expect(try await other.next() == nil, "\(other.cursor)") }
            #expect(try await reader.next() != nil)

            try await postgres.write("UPDATE streams SET forgotten_seq = seq WHERE id = \(reader.stream)")
            #expect(try await reader.next() == nil, "forgotten")
            try await postgres.write("UPDATE streams SET forgotten_seq = 0 WHERE id = \(reader.stream)")
            try await postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(ada.userID)")
            #expect(try await reader.next() == nil, "disabled")
            try await postgres.write("UPDATE users SET disabled_at = NULL WHERE id = \(ada.userID)")
            #expect(try await reader.next() != nil)

            // Whoever has lost a record may see it in another stream.
            let revoked = try await service.call("PATCH", "/api/records/threads/t", as: owner, #"{"readers":[]}"#)
            #expect(revoked.status == 200)
            var seen = reader
            let number: Int = try await postgres.read("SELECT seq FROM streams WHERE id = \(reader.stream)")[0].decode(
                "seq"
            )
            seen.cursor.move(reader.stream, to: number - 1)
            #expect(try await seen.next() == nil)
            var last = reader
            last.cursor.move(reader.stream, to: number)
            #expect(try await last.next() != nil)
            try await postgres.write("DELETE FROM sessions WHERE user_id = \(ada.userID)")
            #expect(try await last.next() == nil, "no session")
        }
    }

    @Test("Many at the same time get each their own")
    func together() async throws {
        try await TestService.runWithSchema { service in
            var readers: [(TestMember, Reader)] = []
            for number in 0..<20 {
                let member = try await service.addMember("m\(number)")
                readers.append((member, try await Reader(service, member)))
            }
            for (member, _) in readers {
                try await service.put("houses/\(member.name)", as: member, #"{"data":{"address":"a"}}"#)
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (member, reader) in readers {
                    tasks.addTask {
                        let batch = try await reader.next()
                        #expect(batch?.changes.map(\.id) == [member.name])
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }
}
