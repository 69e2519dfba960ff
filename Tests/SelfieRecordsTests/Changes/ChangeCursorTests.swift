import Encodings
import TestSupport
import Testing

@testable import SelfieRecords

@Suite("Cursors of changes")
struct ChangeCursorTests {
    /// The start of PostgreSQL, unless a test has another one.
    private static let start = 1_795_000_000_123_456

    private static let cursor = cursor(filter: 99, [1: 1, 200: 1 << 40, 3_000_000_000: 5])

    /// A cursor at the ends of streams.
    private static func cursor(
        database: Int = 1 << 61 + 12_345,
        cleared: Int = 7,
        filter: Int? = nil,
        _ numbers: [Int: Int] = [:]
    ) -> ChangeCursor {
        let epoch = ChangeEpoch(database: database, postgresStart: start, schemaVersion: 9, clearedVersion: cleared)
        var cursor = ChangeCursor(epoch: epoch, filter: filter)
        for (stream, number) in numbers { cursor.move(stream, to: number, end: end(number)) }
        return cursor
    }

    private static func end(_ number: Int, start: Int = start) -> StreamEnd {
        StreamEnd(number: number, postgresStart: start)
    }

    @Test("One comes back as it was, without streams of which nothing was received")
    func roundTrip() throws {
        #expect(ChangeCursor(Self.cursor.text) == Self.cursor)
        #expect(ChangeCursor(Self.cursor().text)?.filter == nil)
        var other = Self.cursor
        other.move(17, to: 0, end: Self.end(0))
        #expect(other.text == Self.cursor.text)
        other = Self.cursor
        // Streams were last changed under different starts, and are read in part.
        other.move(200, to: 1 << 40, end: Self.end(1 << 41, start: 5))
        other.move(18, to: 5, end: Self.end(9, start: Self.start + 1))
        #expect(ChangeCursor(other.text) == other)
        #expect(other.begun(in: 200) == 0 && other.begun(in: 18) == 9)
    }

    @Test("The longest is as long as a client may send")
    func longest() {
        let epoch = ChangeEpoch(database: .max, postgresStart: .max, schemaVersion: .max, clearedVersion: .max)
        var most = ChangeCursor(epoch: epoch, filter: .max)
        for number in 0..<128 {
            most.move(.max - number, to: .max / 2, end: StreamEnd(number: .max, postgresStart: number % 2 * .max))
        }
        #expect(ChangeCursor(most.text) == most && most.text.utf8.count <= 8_192)
        most.move(1, to: 1, end: Self.end(1))
        #expect(ChangeCursor(most.text) == nil)
    }

    @Test("Where a client begins with nothing is known until its backlog is over")
    func begun() {
        var cursor = Self.cursor
        cursor.move(9, to: 0, end: Self.end(0))
        #expect(cursor.begun(in: 9) == .max && cursor.number(in: 9) == 0)
        cursor.move(9, to: 10, end: Self.end(100))
        #expect(cursor.begun(in: 9) == 100)
        // More has come meanwhile, which the client may have had before.
        cursor.move(9, to: 20, end: Self.end(200))
        #expect(cursor.begun(in: 9) == 100)
        cursor.move(9, to: 200, end: Self.end(200))
        #expect(cursor.begun(in: 9) == 0)
        cursor.move(9, to: 210, end: Self.end(300))
        #expect(cursor.begun(in: 9) == 0)
    }

    @Test("Whatever else is refused, and never crashes")
    func malformed() {
        for text in [
            "", "A", "now", "AQ", "Ag", "Aw", "AQAAAAA", "AgAAAAA", "AwAAAAAA\u{E9}",
            String(repeating: "A", count: 5_000),
            "AwAAAA_____",
        ] {
            #expect(ChangeCursor(text) == nil, "\(text)")
        }
        var generator = SplitMix64(seed: 20)
        let letters = Array(Self.cursor.text)
        for _ in 0..<2_000 {
            var changed = letters
            changed[Int.random(in: 0..<changed.count, using: &generator)] =
                letters.randomElement(using: &generator) ?? "A"
            let text = String(changed.prefix(Int.random(in: 0...changed.count, using: &generator)))
            if let cursor = ChangeCursor(text) { #expect(cursor.positions.count <= 128) }
        }
    }

    @Test("One of an older version is known as such, and no other text is")
    func older() {
        for text in ["AQAAAAA", "AgEAAAA", "AfjD-dbdntHULQAAAQEC"] {
            #expect(ChangeCursor(text) == nil && ChangeQuery.Start(text) == .unreadable, "\(text)")
        }
        for text in ["", "!", "Aw", "BAAAAAA", "AAAAAAA", "later"] {
            #expect(ChangeQuery.Start(text) == nil, "\(text)")
        }
        #expect(ChangeQuery.Start("now") == .now && ChangeQuery.Start(Self.cursor.text) == .after(Self.cursor))
    }

    // MARK: Checks

    private static func check(
        database: Int = 1 << 61 + 12_345,
        cleared: Int = 7,
        _ streams: [Int: ChangeCursor.Check.Stream]
    ) -> ChangeCursor.Check {
        let epoch = ChangeEpoch(database: database, postgresStart: 1, schemaVersion: 10, clearedVersion: cleared)
        return ChangeCursor.Check(epoch: epoch, streams: streams)
    }

    /// A stream at 100.
    private static func stream(isLost: Bool = false, forgotten: Int = 0) -> ChangeCursor.Check.Stream {
        ChangeCursor.Check.Stream(end: end(100), isLost: isLost, forgotten: forgotten, reached: 100)
    }

    private static func reset(_ cursor: ChangeCursor, _ check: ChangeCursor.Check, filter: Int? = nil) -> ChangeReset? {
        do {
            try cursor.require(check, filter: filter)
            return nil
        } catch {
            return error
        }
    }

    @Test("Cursors begin again: other databases or collections, lost changes or streams, removed tombstones")
    func others() {
        let cursor = Self.cursor([1: 50, 2: 0])
        // Another start of PostgreSQL and another schema are no reason.
        #expect(Self.reset(cursor, Self.check([1: Self.stream()])) == nil)
        #expect(Self.reset(cursor, Self.check(database: 2, [1: Self.stream()])) == .database)
        #expect(Self.reset(cursor, Self.check(cleared: 8, [1: Self.stream()])) == .access)
        #expect(Self.reset(cursor, Self.check([1: Self.stream(isLost: true)])) == .database)
        #expect(Self.reset(cursor, Self.check([3: Self.stream()])) == .access)
        #expect(Self.reset(cursor, Self.check([1: Self.stream(forgotten: 50)])) == nil)
        #expect(Self.reset(cursor, Self.check([1: Self.stream(forgotten: 51)])) == .forgotten)
        #expect(Self.reset(cursor, Self.check([1: Self.stream()]), filter: 5) == .collections)
        // Of the second stream, nothing was received.
        #expect(Self.reset(cursor, Self.check([1: Self.stream(), 2: Self.stream(isLost: true)])) == nil)
    }

    @Test("In a backlog, what counts is where the client began")
    func backlog() {
        var begun = Self.cursor()
        begun.move(1, to: 10, end: Self.end(60))
        #expect(Self.reset(begun, Self.check([1: Self.stream(forgotten: 60)])) == nil)
        #expect(Self.reset(begun, Self.check([1: Self.stream(forgotten: 61)])) == .forgotten)
        var later = Self.cursor([1: 5])
        later.move(1, to: 10, end: Self.end(60))
        #expect(Self.reset(later, Self.check([1: Self.stream(forgotten: 10)])) == nil)
        #expect(Self.reset(later, Self.check([1: Self.stream(forgotten: 11)])) == .forgotten)
    }

    @Test("The cursor of each change of a batch says what the stream's end was at its reading")
    func batch() {
        let start = Self.cursor()
        var end = start
        end.move(1, to: 9, end: Self.end(60))
        let batch = ChangeBatch(
            changes: [3, 5, 8].map { .ended("n\($0)", number: $0) },
            from: start,
            to: end,
            hasMore: true,
            access: ChangeBatch.Access(roleStreams: [], shownElsewhere: [:], sessionExpiry: nil)
        )
        #expect(batch.cursors.map { $0.number(in: 1) } == [3, 5, 9])
        #expect(batch.cursors.allSatisfy { $0.positions[1]?.end == Self.end(60) && $0.begun(in: 1) == 60 })
    }

    @Test("Base64 for URLs is read as it is written")
    func base64() {
        for bytes in [[], [0], [255, 254], [1, 2, 3], Array(0...255)] as [[UInt8]] {
            let text = bytes.withUnsafeBytes(Base64URL.string)
            #expect(Base64URL.bytes(of: text) == bytes)
        }
        for text in ["A", "AB", "AAB", "A=", "AA==", "A+", "é"] { #expect(Base64URL.bytes(of: text) == nil, "\(text)") }
    }
}
