import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieRecords

@Suite("What is kept of streams for all readers of a process", .timeLimit(.minutes(1)))
struct ChangeTailsTests {
    /// The stream of a collection, what is kept of it, and a reader of it.
    private struct Scene {
        let service: TestService
        let owner: TestMember
        let stream: Int
        let store: ChangeStore
        let tails: ChangeTails

        func write(_ id: String, title: String = "t", more: String = "") async throws {
            try await service.put("news/\(id)", as: owner, #"{"data":{"title":"\#(title)"}\#(more)}"#)
        }

        /// Adds records behind the service's back, as the next changes of the stream.
        func add(_ numbers: ClosedRange<Int>) async throws {
            try await service.postgres.write(
                """
                WITH stream AS (
                    UPDATE streams SET seq = seq + \(numbers.count) WHERE id = \(stream)
                    RETURNING id, collection_id, seq - \(numbers.count) AS base
                ), added AS (
                    INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                    SELECT collection_id, 'r' || n, \(owner.userID), '{"title":"t"}', 13
                    FROM stream, generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n
                    RETURNING key, collection_id
                )
                INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq)
                SELECT stream.id, added.collection_id, key, 1,
                    base + row_number() OVER (ORDER BY key), base + row_number() OVER (ORDER BY key)
                FROM added, stream
                """
            )
        }

        /// Reads on, as far as there is something.
        ///
        /// - Parameter start: Where the reader is.
        /// - Returns: The ids of what has changed, and where the reader is afterwards.
        func readOn(from start: ChangeCursor) async -> (ids: [String], end: ChangeCursor) {
            var (seen, cursor) = ([String](), start)
            for _ in 0..<9 {
                guard let next = await tails.changes(of: stream, after: cursor) else { break }
                seen += next.changes.map(\.id)
                cursor = next.end
                if !next.hasMore { break }
            }
            return (seen, cursor)
        }

        /// Where a reader is who has read alone just now.
        func cursor() async throws -> ChangeCursor {
            let reader = ChangeReader(userID: owner.userID, sessionID: nil)
            return try await store.read(ChangeQuery(collections: nil), from: .now, by: reader).end
        }

        /// What a reader gets of what is kept; nil where it must read alone.
        func told(after cursor: ChangeCursor) async -> [String]? {
            await tails.changes(of: stream, after: cursor)?.changes.map { "\($0.kind) \($0.id)" }
        }
    }

    private static func run(
        _ schema: String? = nil,
        at time: @escaping @Sendable () -> Date = { Date() },
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema(schema) { service in
            let store = FollowChanges(postgres: service.postgres).store
            let stream = try await service.count(
                "SELECT streams.id AS count FROM streams JOIN collections ON collections.id = collection_id WHERE name = 'news'"
            )
            let owner = try await service.addMember("owner")
            try await body(
                Scene(
                    service: service,
                    owner: owner,
                    stream: stream,
                    store: store,
                    tails: ChangeTails(store: store, now: time)
                )
            )
        }
    }

    @Test("Who has read alone and is ahead takes nothing from those who are behind")
    func ahead() async throws {
        try await Self.run { scene in
            let behind = try await scene.cursor()
            try await scene.write("n1")
            #expect(await scene.told(after: behind) == ["created n1"])
            // Nobody has told of this one, and somebody has read it.
            try await scene.write("n2")
            let ahead = try await scene.cursor()
            try await scene.write("n3")
            scene.tails.changed(scene.stream)
            #expect(await scene.told(after: ahead) == ["created n3"])
            #expect(await scene.told(after: behind) == ["created n1", "created n2", "created n3"])
            // Nobody has told of this one, either. There is no more.
            try await scene.write("n4")
            #expect(await scene.told(after: try await scene.cursor()) == [])
        }
    }

    @Test("Who is far ahead begins anew, and those behind read alone")
    func farAhead() async throws {
        try await Self.run { scene in
            let behind = try await scene.cursor()
            try await scene.write("n1")
            #expect(await scene.told(after: behind) == ["created n1"])
            try await scene.service.postgres.write("UPDATE streams SET seq = seq + 300 WHERE id = \(scene.stream)")
            let ahead = try await scene.cursor()
            try await scene.write("n2")
            scene.tails.changed(scene.stream)
            #expect(await scene.told(after: ahead) == ["created n2"])
            #expect(await scene.told(after: behind) == nil)
        }
    }

    @Test("One change that has ended by itself is left out, and the others are told")
    func expired() async throws {
        // To who is told, it is tomorrow.
        try await Self.run(at: { Date(timeIntervalSinceNow: 86_400) }) { scene in
            let cursor = try await scene.cursor()
            let end = Date(timeIntervalSinceNow: 3_600).formatted(
                Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            )
            try await scene.write("n1", more: #","expires_at":"\#(end)""#)
            try await scene.write("n2")
            #expect(await scene.told(after: cursor) == ["created n2"])
        }
    }

    @Test("About a MiB of a stream is kept")
    func bytes() async throws {
        try await Self.run { scene in
            let (first, title) = (try await scene.cursor(), String(repeating: "x", count: 60_000))
            for number in 0..<15 { try await scene.write("n\(number)", title: title) }
            scene.tails.changed(scene.stream)
            let (seen, cursor) = await scene.readOn(from: first)
            #expect(seen == (0..<15).map { "n\($0)" })
            #expect(await scene.told(after: first)?.count == 15)
            for number in 15..<19 { try await scene.write("n\(number)", title: title) }
            scene.tails.changed(scene.stream)
            #expect(await scene.tails.changes(of: scene.stream, after: cursor)?.changes.count == 4)
            #expect(await scene.told(after: first) == nil)
        }
    }

    @Test("1,024 changes of a stream are kept, and not one more")
    func count() async throws {
        try await Self.run { scene in
            let first = try await scene.cursor()
            try await scene.add(1...1_024)
            scene.tails.changed(scene.stream)
            let (seen, cursor) = await scene.readOn(from: first)
            #expect(seen == (1...1_024).map { "r\($0)" })
            #expect(await scene.told(after: first)?.count == 1_024)
            try await scene.add(1_025...1_025)
            scene.tails.changed(scene.stream)
            #expect(await scene.readOn(from: cursor).ids == ["r1025"])
            #expect(await scene.told(after: first) == nil)
        }
    }

    @Test("All streams have 16 MiB: of 32 that are read, each keeps half a MiB")
    func share() async throws {
        let others = (1...31).map { #""c\#($0)":{"access":"published"}"# }.joined(separator: ",")
        try await Self.run(#"{"collections":{"news":{"access":"published"},\#(others)}}"#) { scene in
            let (first, title) = (try await scene.cursor(), String(repeating: "x", count: 60_000))
            let rows = try await scene.service.postgres.read("SELECT id FROM streams WHERE collection_id IS NOT NULL")
            let streams: [Int] = try rows.map { try $0.decode("id") }
            #expect(streams.count == 32)
            for stream in streams {
                let kept = await scene.tails.changes(of: stream, after: first)
                #expect(kept?.changes.isEmpty == true)
            }
            for number in 0..<8 { try await scene.write("n\(number)", title: title) }
            scene.tails.changed(scene.stream)
            let (seen, cursor) = await scene.readOn(from: first)
            #expect(seen.count == 8)
            #expect(await scene.told(after: first)?.count == 8)
            try await scene.write("n8", title: title)
            scene.tails.changed(scene.stream)
            #expect(await scene.readOn(from: cursor).ids == ["n8"])
            #expect(await scene.told(after: first) == nil)
        }
        #expect(ChangeTails.maxKeptCount == 1_024)
        #expect(ChangeTails.maxKeptBytes == 262_144...1_048_576)
        #expect(ChangeTails.maxTotalBytes == 16_777_216)
    }
}
