import RecordSchema
import Testing

@testable import SelfieRecords

@Suite("What streams' rows become", .timeLimit(.minutes(1)))
struct RecordRowsTests {
    private typealias Scene = PlannerScene

    private static let owner: Rights = [.read, .write, .delete, .share]

    @Test("A grant that shows a change takes a number; one that never showed the record leaves no row")
    func grants() {
        func old(_ rights: Rights, _ number: Int?, since shown: Int?) -> RecordGrant {
            RecordGrant(rights: rights, number: number, shownNumber: shown)
        }
        let (reads, nothing, deletes): (Rights, Rights, Rights) = ([.read], [], [.delete])
        let writes: Rights = [.read, .write]
        let table: [(RecordGrant?, Rights, isChange: Bool, row: (Int?, since: Int?)?, isRemoved: Bool)] = [
            // New readers, those who read on, and those who no longer do.
            (nil, reads, true, (9, 9), false),
            (old(reads, 5, since: 3), reads, true, (9, 3), false),
            (old(reads, 5, since: 3), nothing, true, (9, nil), false),
            (old(reads, 5, since: 3), deletes, true, (9, nil), false),
            (old(nothing, 5, since: nil), reads, true, (9, 9), false),
            // Streams that never showed it.
            (nil, deletes, true, (nil, nil), false),
            (old(deletes, nil, since: nil), deletes, true, nil, false),
            (old(deletes, nil, since: nil), nothing, true, (nil, nil), true),
            (old(deletes, nil, since: nil), reads, true, (9, 9), false),
            (old(nothing, 5, since: nil), nothing, true, nil, false),
            (old(deletes, 5, since: nil), nothing, true, (5, nil), false),
            // No change for those who read it before and afterwards.
            (old(reads, 5, since: 3), reads, false, nil, false),
            (old(reads, 5, since: 3), writes, false, (5, 3), false),
            (old(reads, 5, since: 3), nothing, false, (9, nil), false),
            (nil, reads, false, (9, 9), false),
        ]
        for (line, (old, rights, isChange, expected, isRemoved)) in table.enumerated() {
            let change = GrantChange(stream: 1, memberID: nil, from: old, to: rights, isChange: isChange)
            let row = GrantTable.Row(
                collectionID: 2,
                key: 3,
                stream: 1,
                rights: rights,
                number: expected?.0,
                shownNumber: expected?.since
            )
            let written = change.row(key: 3, in: 2, next: change.isShown ? 9 : nil)
            #expect(written == (expected == nil ? nil : row), "line \(line)")
            #expect((written?.isUseless == true) == isRemoved, "line \(line)")
            #expect(change.isShown == (expected?.0 == 9), "line \(line)")
        }
    }

    private static func rows(_ streams: [StreamTable.Row], quotaBytes: Int = 1_000) -> RecordRows {
        RecordRows(streams: streams, now: Timestamp(milliseconds: 1_000), quotaBytes: quotaBytes)
    }

    @Test("Each stream counts its own changes; one of a deleted account gets no row")
    func numbers() throws {
        var scene = try Scene()
        try scene.add("threads", "a", rights: [1: Self.owner, 2: [.read], 3: [.read]])
        try scene.add("threads", "b", rights: [1: Self.owner, 2: [.read]])
        var rows = Self.rows([.init(id: 1, number: 10), .init(id: 2, number: 20)])
        for id in ["a", "b"] {
            let draft = try scene.draft(.patch, "threads", id, by: Scene.ada)
            try rows.add(draft, key: id == "a" ? 1 : 2, authorID: 1, targets: .init())
        }
        #expect(
            rows.grants.map { [$0.key, $0.stream, $0.number ?? 0] } == [
                [1, 1, 11], [1, 2, 21], [2, 1, 12], [2, 2, 22],
            ]
        )
        #expect(rows.streams[1]?.number == 12 && rows.streams[2]?.number == 22)
        #expect(rows.changed.map(\.key) == [1, 2] && rows.added.isEmpty && rows.deleted.isEmpty)
    }

    @Test("An owner has 100,000 records and the quota's bytes, an inbox 10,000 records; not one more")
    func limits() throws {
        var scene = try Scene()
        scene.inboxOf = Scene.bob
        let draft = try scene.draft(.put, "inbox", by: Scene.ada, data: #"{"a":1}"#)
        for (ada, bob, reason) in [
            (.init(id: 1, recordCount: 99_999, byteCount: 993), .init(id: 2, inboxCount: 9_999), nil),
            (.init(id: 1, recordCount: 100_000), .init(id: 2), .noRoom),
            (.init(id: 1, byteCount: 994), .init(id: 2), .noBytes(max: 1_000)),
            (.init(id: 1), .init(id: 2, inboxCount: 10_000), .inboxFull),
        ] as [(StreamTable.Row, StreamTable.Row, RecordRefusal.Reason?)] {
            var rows = Self.rows([ada, bob])
            let refusal = try scene.refusal { try rows.add(draft, key: 1, authorID: 1, targets: .init()) }
            #expect(refusal == reason)
        }
        // What no operation names is not limited: a parent, and the service's own work.
        try scene.add("threads", data: "{}", rights: [1: Self.owner])
        let thread = try #require(scene.records.values.first)
        let longer = RecordDraft.Content(
            data: RecordData(stored: #"{"x":"y"}"#, in: try scene.collection("threads").definition),
            expiresAt: nil,
            newLinks: []
        )
        var rows = Self.rows([.init(id: 1, byteCount: 1_000)])
        let parent = RecordDraft(of: thread, in: try scene.collection("threads"), longer)
        try rows.add(parent, key: 1, authorID: 1, targets: .init())
        #expect(rows.streams[1]?.byteCount == 1_007)
    }

    @Test("A member's stream shows 50,000 records of an author, and of an inbox as many as are free; not one more")
    func authors() throws {
        var scene = try Scene()
        let shared = try scene.draft(.create, "threads", nil, by: Scene.ada, readers: ["bob"])
        var rows = Self.rows([.init(id: 1), .init(id: 2)])
        try rows.add(shared, key: 1, authorID: 1, targets: .init())
        let pair = StreamTable.AuthoredStream(stream: 2, authorID: 1)
        #expect(rows.authors == [pair: .init(recordCount: 1)])
        try rows.check(.init(recordCount: 50_000), of: pair)
        #expect(throws: RecordRefusal(.readerFull, at: 0)) { try rows.check(.init(recordCount: 50_001), of: pair) }

        scene.inboxOf = Scene.bob
        let sent = try scene.draft(.put, "inbox", by: Scene.ada)
        rows = Self.rows([.init(id: 1), .init(id: 2, inboxCount: 5_999)])
        try rows.add(sent, key: 1, authorID: 1, targets: .init())
        #expect(rows.authors == [pair: .init(recordCount: 1, inboxCount: 1)])
        try rows.check(.init(recordCount: 4_001, inboxCount: 4_001), of: pair)
        #expect(throws: RecordRefusal(.inboxFull, at: 0)) {
            try rows.check(.init(recordCount: 4_002, inboxCount: 4_002), of: pair)
        }
    }

    @Test("Indexed values belong to the streams that read the record, and references to the users who set them")
    func links() throws {
        var scene = try Scene()
        scene.inboxOf = nil
        let data = #"{"address":"x","near":"h","photo":"p"}"#
        let draft = try scene.draft(.put, "houses", by: Scene.ada, data: data)
        var targets = RecordRows.Targets()
        targets.records[.record(id: "h", collection: "houses")] = 70
        targets.photos[.photo(randomID: "p")] = (80, 1)
        var rows = Self.rows([.init(id: 1)])
        try rows.add(draft, key: 9, authorID: 1, targets: targets)
        #expect(rows.indexed.map(\.stream) == [1] && rows.indexed.map(\.field) == ["address"])
        #expect(rows.linked.map(\.field) == ["photo", "near"])
        #expect(rows.recordReferences.map { [$0.key, $0.target, $0.ownerID] } == [[9, 70, 1]])
        #expect(rows.photoReferences.map { [$0.key, $0.target, $0.ownerID] } == [[9, 80, 1]])
        // Somebody else's photo is not shown, not even under new rules.
        targets.photos[.photo(randomID: "p")] = (80, 2)
        rows = Self.rows([.init(id: 1)])
        try rows.add(draft, key: 9, authorID: nil, targets: targets)
        #expect(rows.photoReferences.isEmpty)
    }
}
