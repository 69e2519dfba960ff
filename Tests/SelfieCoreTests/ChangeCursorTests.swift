import Encodings
import TestSupport
import Testing

@testable import SelfieCore

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
        other.positions[17] = 0
        #expect(other.text == Self.cursor.text)
        let most = ChangeCursor(
            mark: .max,
            clearedVersion: .max,
            filter: .max,
            positions: Dictionary(uniqueKeysWithValues: (0..<128).map { (Int.max - $0, Int.max - $0) })
        )
        #expect(ChangeCursor(most.text) == most && most.text.utf8.count < 4_096)
    }

    @Test("Whatever else is refused, and never crashes")
    func malformed() {
        for text in ["", "A", "now", "AQ", "Aw", "AQAAAAA\u{E9}", String(repeating: "A", count: 5_000), "AQAAAA_____"] {
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

    private static func check(
        start: Int?,
        isSame: Bool = true,
        cleared: Int = 7,
        _ streams: [StreamPosition]
    ) -> ChangeCursor.Check {
        ChangeCursor.Check(
            mark: 1,
            clearedVersion: cleared,
            cursorStart: start,
            isSameDatabase: isSame,
            streams: streams
        )
    }

    /// A stream at 100, last changed under start 3, before that at 60 under start 2.
    private static func stream(_ id: Int = 1, last: Int = 100, forgotten: Int = 0) -> StreamPosition {
        StreamPosition(
            stream: id,
            last: last,
            forgotten: forgotten,
            start: 3,
            lastBeforeStart: 60,
            previousStart: 2,
            reached: last
        )
    }

    @Test(
        "A cursor goes on only where nothing can have been missed",
        arguments: [
            (3, 100, nil), (3, 101, ChangeReset.database), (4, 100, nil), (4, 101, .database), (3, 61, nil),
            // Given out under an earlier start, and beyond what that start has left.
            (2, 60, nil), (2, 61, .database),
            // Two starts ago nobody knows any more.
            (1, 10, .database), (1, 0, nil),
        ] as [(Int, Int, ChangeReset?)]
    )
    func starts(start: Int, position: Int, expected: ChangeReset?) {
        let cursor = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [1: position])
        #expect(Self.reset(cursor, Self.check(start: start, [Self.stream()])) == expected)
    }

    @Test("Other databases, lost streams, what is forgotten, and other collections begin again")
    func others() {
        let cursor = ChangeCursor(mark: 1, clearedVersion: 7, filter: 0, positions: [1: 50, 2: 0])
        let streams = [Self.stream()]
        #expect(Self.reset(cursor, Self.check(start: 2, streams)) == nil)
        #expect(Self.reset(cursor, Self.check(start: nil, streams)) == .database)
        #expect(Self.reset(cursor, Self.check(start: 2, isSame: false, streams)) == .database)
        #expect(Self.reset(cursor, Self.check(start: 2, cleared: 8, streams)) == .access)
        #expect(Self.reset(cursor, Self.check(start: 2, [Self.stream(3)])) == .access)
        #expect(Self.reset(cursor, Self.check(start: 2, [Self.stream(forgotten: 50)])) == nil)
        #expect(Self.reset(cursor, Self.check(start: 2, [Self.stream(forgotten: 51)])) == .forgotten)
        #expect(Self.reset(cursor, Self.check(start: 2, streams), filter: 5) == .collections)
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
