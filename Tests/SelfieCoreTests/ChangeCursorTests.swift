import Encodings
import TestSupport
import Testing

@testable import SelfieRecords

@Suite("Cursors of changes")
struct ChangeCursorTests {
    private static let cursor = ChangeCursor(
        mark: 1 << 61 + 12_345,
        clearedVersion: 7,
        filter: 99,
        positions: [1: 1, 200: 1 << 40, 3_000_000_000: 5]
    )

    @Test("One comes back as it was, without streams of which nothing was seen")
    func roundTrip() throws {
        #expect(ChangeCursor(Self.cursor.text) == Self.cursor)
        var other = Self.cursor
        other.move(17, to: 0)
        #expect(other.text == Self.cursor.text)
        other.move(200, to: 1 << 40, last: 1 << 41)
        #expect(ChangeCursor(other.text)?.last(of: 200) == 1 << 41 && ChangeCursor(other.text)?.begun(200) == 0)
        other.move(18, to: 5, last: 9)
        #expect(ChangeCursor(other.text)?.last(of: 18) == 9 && ChangeCursor(other.text)?.begun(18) == 9)
    }

    @Test("The longest is as long as a client may send")
    func longest() {
        var most = ChangeCursor(mark: .max, clearedVersion: .max, filter: .max, positions: [:])
        for number in 0..<128 { most.move(.max - number, to: .max - 1, last: .max) }
        #expect(ChangeCursor(most.text) == most && most.text.utf8.count <= 8_192)
    }

    @Test("Where a client begins with nothing is known until its backlog is over")
    func begun() {
        var cursor = Self.cursor
        cursor.move(9, to: 0, last: 0)
        #expect(cursor.begun(9) == .max && cursor.last(of: 9) == 0)
        cursor.move(9, to: 10, last: 100)
        #expect(cursor.begun(9) == 100 && cursor.last(of: 9) == 100)
        // More has come meanwhile, which the client may have had before.
        cursor.move(9, to: 20, last: 200)
        #expect(cursor.begun(9) == 100 && cursor.last(of: 9) == 200)
        cursor.move(9, to: 200)
        #expect(cursor.begun(9) == 0 && cursor.last(of: 9) == 200)
        cursor.move(9, to: 210, last: 300)
        #expect(cursor.begun(9) == 0 && cursor.last(of: 9) == 300)
    }

    @Test("Whatever else is refused, and never crashes")
    func malformed() {
        for text in [
            "", "A", "now", "AQ", "Ag", "AQAAAAA", "AgAAAAA\u{E9}", String(repeating: "A", count: 5_000), "AgAAAA_____",
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

    private static func check(isSame: Bool = true, cleared: Int = 7, _ streams: [StreamPosition]) -> ChangeCursor.Check
    {
        ChangeCursor.Check(mark: 1, clearedVersion: cleared, isSameDatabase: isSame, streams: streams)
    }

    /// A stream at 100, of which the changes after 60 may be others than the cursor's.
    private static func stream(_ id: Int = 1, forgotten: Int = 0) -> StreamPosition {
        StreamPosition(stream: id, last: 100, lastCommon: 60, forgotten: forgotten, reached: 100)
    }

    @Test(
        "A cursor goes on only where nothing can have been missed",
        arguments: [(0, nil), (60, nil), (61, .database)] as [(Int, ChangeReset?)]
    )
    func common(position: Int, expected: ChangeReset?) {
        let cursor = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [1: position])
        #expect(Self.reset(cursor, Self.check([Self.stream()])) == expected)
    }

    @Test("Other databases, lost streams, what is forgotten, and other collections begin again")
    func others() {
        let cursor = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [1: 50, 2: 0])
        let streams = [Self.stream()]
        #expect(Self.reset(cursor, Self.check(streams)) == nil)
        #expect(Self.reset(cursor, Self.check(isSame: false, streams)) == .database)
        #expect(Self.reset(cursor, Self.check(cleared: 8, streams)) == .access)
        #expect(Self.reset(cursor, Self.check([Self.stream(3)])) == .access)
        #expect(Self.reset(cursor, Self.check([Self.stream(forgotten: 50)])) == nil)
        #expect(Self.reset(cursor, Self.check([Self.stream(forgotten: 51)])) == .forgotten)
        #expect(Self.reset(cursor, Self.check(streams), filter: 5) == .collections)
    }

    @Test("In a backlog, what counts is where the stream was at its reading, and where the client began")
    func backlog() {
        var begun = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [:])
        begun.move(1, to: 10, last: 60)
        #expect(Self.reset(begun, Self.check([Self.stream()])) == nil)
        #expect(Self.reset(begun, Self.check([Self.stream(forgotten: 60)])) == nil)
        #expect(Self.reset(begun, Self.check([Self.stream(forgotten: 61)])) == .forgotten)
        begun.move(1, to: 20, last: 61)
        #expect(Self.reset(begun, Self.check([Self.stream()])) == .database)
        var later = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [1: 5])
        later.move(1, to: 10, last: 60)
        #expect(Self.reset(later, Self.check([Self.stream(forgotten: 10)])) == nil)
        #expect(Self.reset(later, Self.check([Self.stream(forgotten: 11)])) == .forgotten)
    }

    @Test("The cursor of each change of a batch says what the stream had at its reading")
    func batch() {
        let start = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [:])
        var end = start
        end.move(1, to: 9, last: 60)
        let changes = [3, 5, 8].map { number in
            Change(
                collection: "notes",
                id: "n\(number)",
                content: nil,
                place: (1, number),
                shownNumber: 0,
                isGone: true,
                since: start
            )
        }
        let batch = ChangeBatch(
            changes: changes,
            start: start,
            end: end,
            hasMore: true,
            ownStream: 1,
            schemaVersion: 1,
            sessionExpiry: nil
        )
        #expect(batch.cursors.map { $0.positions[1] } == [3, 5, 9])
        #expect(batch.cursors.allSatisfy { $0.last(of: 1) == 60 && $0.begun(1) == 60 })
    }

    private static func reset(_ cursor: ChangeCursor, _ check: ChangeCursor.Check, filter: Int = 0) -> ChangeReset? {
        do {
            try cursor.check(check, filter: filter)
            return nil
        } catch {
            return error
        }
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
