import ConnectionTestSupport
import OrderedCollections
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieRecords

@Suite("Comparisons that read the next changes of streams", .timeLimit(.minutes(2)))
struct SharedReadingTests {
    /// A reader of a stream of its own, as its process knows it.
    private struct Reader {
        let store: ChangeStore
        let listener: ChangeListener
        let stream: Int
        var position: ChangeCursor.Position

        init(_ service: TestService, _ member: TestMember) async throws {
            store = FollowChanges(postgres: service.postgres).store
            let session = try #require(try await SessionStore(postgres: service.postgres).find(token: member.token))
            let reader = ChangeReader(userID: member.userID, sessionID: session.id)
            listener = ChangeListener(reader)
            let batch = try await store.read(ChangeQuery(collections: nil), from: .beginning, by: reader)
            listener.position = batch.position
            stream = try await service.count("SELECT id AS count FROM streams WHERE user_id = \(member.userID)")
            position = try #require(batch.end.positions[stream])
        }

        func compare() async throws -> ChangeComparison {
            try await store.compare(.init(reading: [stream: position], of: [listener]))
        }

        /// Reads the next changes, and moves on.
        mutating func next() async throws -> [Change] {
            let found = try await compare()
            let read = try #require(found.streams[stream])
            position = ChangeCursor.Position(number: read.reached, end: read.end, begun: nil)
            return found.changes[stream] ?? []
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

    @Test("They give the changes of a stream after a position, as its user sees them")
    func changes() async throws {
        try await Self.withReader { service, owner, ada, start in
            var reader = start
            #expect(try await reader.next().isEmpty)
            try await service.put("threads/t", as: owner, #"{"data":{"x":1},"readers":["\#(ada.id)"]}"#)
            let photo = try await service.upload(as: ada)
            try await service.put("houses/first", as: ada, #"{"data":{"address":"b"}}"#)
            try await service.put("threads/own", as: ada, #"{"data":{"x":1},"readers":["\#(owner.id)"]}"#)
            let changes = try await reader.next()
            #expect(changes.map(\.id) == ["t", photo, "first", "own"])
            // Readers are the owner's to see.
            let readers = changes.map { change in
                if case .record(let record) = change.content { record.readers } else { nil as [String]? }
            }
            #expect(readers == [nil, nil, nil, [owner.id]])
            #expect(try await service.call("DELETE", "/api/records/houses/first", as: ada).status == 200)
            #expect(
                try await service.call("PATCH", "/api/records/threads/t", as: owner, #"{"readers":[]}"#).status == 200
            )
            let ended = try await reader.next()
            #expect(ended.map(\.id) == ["first", "t"] && ended.allSatisfy { $0.content == nil })
            #expect(ended.map(\.isDeleted) == [true, false])
        }
    }

    @Test("They find changed sessions and roles, lost and removed changes, and deleted streams")
    func doubts() async throws {
        try await Self.withReader { service, owner, ada, reader in
            let postgres = service.postgres
            #expect(try await reader.compare().outdatedReaders.isEmpty)
            let (end, start) = (reader.position.end, reader.position.end.postgresStart)
            for lost in [
                StreamEnd(number: 1_000, postgresStart: start), StreamEnd(number: end.number, postgresStart: 1),
            ] {
                var other = reader
                other.position = ChangeCursor.Position(number: lost.number, end: lost, begun: nil)
                #expect(try await other.compare().streams[reader.stream]?.isLost == true)
            }
            #expect(try await reader.compare().streams[reader.stream]?.isLost == false)
            try await postgres.write("UPDATE streams SET forgotten_seq = seq WHERE id = \(reader.stream)")
            #expect(try await reader.compare().streams[reader.stream]?.forgotten == end.number)
            #expect(try await reader.store.compare(.init(reading: [1_000_000: reader.position])).streams.isEmpty)

            // What a role gives, and what it gives no more.
            let changes: [PostgresQuery] = [
                "INSERT INTO role_members (role_id, user_id) SELECT id, \(ada.userID) FROM roles WHERE name = 'team'",
                "UPDATE roles SET disabled_at = now()", "UPDATE roles SET disabled_at = NULL",
                "DELETE FROM role_members", "UPDATE users SET disabled_at = now() WHERE id = \(ada.userID)",
                "UPDATE users SET disabled_at = NULL WHERE id = \(ada.userID)",
                "DELETE FROM sessions WHERE user_id = \(ada.userID)",
            ]
            let outdated = [true, false, true, false, true, false, true]
            for (change, isOutdated) in zip(changes, outdated) {
                try await postgres.write(change)
                #expect(try await !reader.compare().outdatedReaders.isEmpty == isOutdated, "\(change.sql)")
            }
        }
    }

    @Test("A reader of another start of PostgreSQL, schema or database reads again")
    func epochs() async throws {
        try await Self.withReader { _, _, _, reader in
            let position = try #require(reader.listener.position)
            let epoch = position.end.epoch
            for other in [
                ChangeEpoch(
                    database: 1,
                    postgresStart: epoch.postgresStart,
                    schemaVersion: epoch.schemaVersion,
                    clearedVersion: 0
                ),
                ChangeEpoch(
                    database: epoch.database,
                    postgresStart: 1,
                    schemaVersion: epoch.schemaVersion,
                    clearedVersion: 0
                ),
                ChangeEpoch(
                    database: epoch.database,
                    postgresStart: epoch.postgresStart,
                    schemaVersion: 0,
                    clearedVersion: 0
                ),
            ] {
                let cursor = ChangeCursor(epoch: other, filter: nil)
                reader.listener.position = ChangeBatch(
                    changes: [],
                    from: cursor,
                    to: cursor,
                    hasMore: false,
                    access: position.access
                )
                #expect(try await reader.compare().outdatedReaders == [reader.listener])
            }
            reader.listener.position = position
            #expect(try await reader.compare().outdatedReaders.isEmpty)
        }
    }

    @Test("Each of many streams gets a change at once, however large; where none was announced, nothing is read")
    func together() async throws {
        try await TestService.runWithSchema { service in
            var readers: [Reader] = []
            let address = String(repeating: "x", count: 60_000)
            for number in 0..<20 {
                let member = try await service.addMember("m\(number)")
                readers.append(try await Reader(service, member))
                for id in ["a", "b"] {
                    try await service.put("houses/\(id)\(number)", as: member, #"{"data":{"address":"\#(address)"}}"#)
                }
            }
            let positions = Dictionary(uniqueKeysWithValues: readers.map { ($0.stream, $0.position) })
            let listeners = Set(readers.map(\.listener))
            let found = try await readers[0].store.compare(.init(reading: positions, of: listeners))
            #expect(found.outdatedReaders.isEmpty && found.streams.count == 20)
            for (number, reader) in readers.enumerated() {
                #expect(found.changes[reader.stream]?.map(\.id) == ["a\(number)"])
                let read = try #require(found.streams[reader.stream])
                #expect(read.reached == reader.position.number + 1 && read.end.number == reader.position.number + 2)
            }
            let compared = try await readers[0].store.compare(.init(streams: positions, readers: listeners))
            #expect(compared.changes.isEmpty && compared.outdatedReaders.isEmpty && compared.streams.count == 20)
            for reader in readers {
                let state = try #require(compared.streams[reader.stream])
                #expect(state.reached == reader.position.number && state.end.number == reader.position.number + 2)
            }
        }
    }

    @Test("256 changes are read at once, and streams share them by how many they have")
    func limit() async throws {
        try await Self.withReader { service, owner, ada, start in
            var reader = start
            let other = try await Reader(service, owner)
            try await service.postgres.write(
                """
                WITH stream AS (UPDATE streams SET seq = seq + 300 WHERE id = \(reader.stream) RETURNING id, seq - 300 AS base),
                added AS (
                    INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                    SELECT id, 'r' || n, \(ada.userID), '{"address":"a"}', 15 FROM collections, generate_series(1, 300) AS n
                    WHERE name = 'houses' RETURNING key, collection_id
                )
                INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq)
                SELECT stream.id, added.collection_id, key, 15,
                    base + row_number() OVER (ORDER BY key), base + row_number() OVER (ORDER BY key)
                FROM added, stream
                """
            )
            let both = [reader.stream: reader.position, other.stream: other.position]
            let shared = try await reader.store.compare(.init(reading: both))
            // The other one has nothing to read, so it leaves its share.
            #expect(shared.changes[reader.stream]?.map(\.id) == (1...256).map { "r\($0)" })
            #expect(shared.changes[other.stream] == nil)
            for id in ["a", "b"] { try await service.put("houses/\(id)", as: owner, #"{"data":{"address":"a"}}"#) }
            let busy = try await reader.store.compare(.init(reading: both))
            #expect(busy.changes[reader.stream]?.map(\.id) == (1...254).map { "r\($0)" })
            #expect(busy.changes[other.stream]?.map(\.id) == ["a"])
            #expect(busy.streams[reader.stream]?.reached == reader.position.number + 254)
            #expect(busy.streams[other.stream]?.reached == other.position.number + 1)
            #expect(try await reader.next().map(\.id) == (1...256).map { "r\($0)" })
            #expect(try await reader.next().map(\.id) == (257...300).map { "r\($0)" })
            #expect(try await reader.next().isEmpty)
        }
    }
}

extension FollowedStreams.Work {
    /// The next changes of some streams, and readers to compare.
    fileprivate init(reading streams: [Int: ChangeCursor.Position], of readers: Set<ChangeListener> = []) {
        self.init(streams: streams, readers: readers, rolesCompared: readers)
        for stream in streams.keys { changed[stream] = .now }
    }
}
