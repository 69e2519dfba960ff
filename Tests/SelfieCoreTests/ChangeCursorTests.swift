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
