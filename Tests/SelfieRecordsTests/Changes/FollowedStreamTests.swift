import Foundation
import Testing

@testable import SelfieRecords

@Suite("The cache of a stream for all readers of a process")
struct FollowedStreamTests {
    /// Stream 1, which was read up to 10.
    private static let stream = FollowedStream(epoch: .first, end: .at(10))

    /// The changes for a reader at a number; nil if it must read by itself.
    private static func summaries(
        _ stream: FollowedStream,
        after reader: ChangeBatch,
        _ query: ChangeQuery = ChangeQuery(collections: nil),
        at time: Date = Date()
    ) -> [String]? {
        stream.next(of: 1, after: reader, for: query, at: time)?.changes.map(\.summary)
    }

    @Test("Each reader gets the changes after its position, each record once, at its last position")
    func positions() {
        var stream = Self.stream
        stream.append([.note("a", number: 11, shownSince: 11), .note("b", number: 12)], to: 12, end: .at(12))
        #expect(Self.summaries(stream, after: .at([1: 10])) == ["created a", "updated b"])
        #expect(Self.summaries(stream, after: .at([1: 11])) == ["updated b"])
        stream.append([.note("a", number: 13, shownSince: 11)], to: 13, end: .at(13))
        #expect(Self.summaries(stream, after: .at([1: 10])) == ["updated b", "created a"])
        #expect(Self.summaries(stream, after: .at([1: 12])) == ["updated a"])
        // This one has read by itself, and is ahead.
        #expect(Self.summaries(stream, after: .at([1: 20])) == [])
        // What is before the first, and another stream, is not there.
        #expect(Self.summaries(stream, after: .at([1: 9])) == nil)
        #expect(Self.summaries(stream, after: .at([2: 12])) == nil)
    }

    @Test("A position moves to the end of the page, and knows the stream's end")
    func end() throws {
        var stream = Self.stream
        stream.append([.note("a", number: 11)], to: 15, end: .at(40))
        let next = try #require(stream.next(of: 1, after: .at([1: 10]), for: ChangeQuery(collections: nil), at: Date()))
        #expect(next.end.positions[1] == ChangeCursor.Position(number: 15, end: .at(40), begun: nil))
        #expect(next.start.number(in: 1) == 10 && !next.hasMore)
    }

    @Test("A reader gets only what it wants, and as much as fits")
    func fitting() throws {
        var stream = Self.stream
        stream.append((11...14).map { .note("n\($0)", number: $0, bytes: 1_000) }, to: 14, end: .at(14))
        let (two, others) = (ChangeQuery(collections: nil, limit: 2), ChangeQuery(collections: ["photos"]))
        let next = try #require(stream.next(of: 1, after: .at([1: 10]), for: two, at: Date()))
        #expect(next.changes.map(\.id) == ["n11", "n12"] && next.end.number(in: 1) == 12 && next.hasMore)
        #expect(Self.summaries(stream, after: next.position, two) == ["updated n13", "updated n14"])
        let small = ChangeQuery(collections: nil, limit: 9, maxBytes: 2_000)
        #expect(Self.summaries(stream, after: .at([1: 10]), small) == ["updated n11"])
        let nothing = try #require(stream.next(of: 1, after: .at([1: 10]), for: others, at: Date()))
        #expect(nothing.changes.isEmpty && nothing.end.number(in: 1) == 14 && !nothing.hasMore)
    }

    @Test("A reader who loses a record that others keep reads by itself: another stream may show it")
    func ended() {
        var stream = Self.stream
        stream.append([.ended("a", number: 11)], to: 11, end: .at(11))
        #expect(Self.summaries(stream, after: .at([1: 10])) == ["deleted a"])
        stream.append([.ended("b", number: 12, isDeleted: false)], to: 12, end: .at(12))
        #expect(Self.summaries(stream, after: .at([1: 10])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 11])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 12])) == [])
    }

    @Test("A reader who began with nothing reads by itself until all is in memory: else it would miss an end")
    func begunBeforeTheEnd() {
        var stream = FollowedStream(epoch: .first, end: .at(0))
        stream.append([.note("x", number: 1, shownSince: 1)], to: 1, end: .at(1))
        // Meanwhile x was deleted, as change 4. One query has read only up to 2.
        stream.append([.note("y", number: 2, shownSince: 2)], to: 2, end: .at(5))
        #expect(Self.summaries(stream, after: .at([1: 0])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 1])) == ["created y"])
        stream.append([.ended("x", number: 4), .note("z", number: 5, shownSince: 5)], to: 5, end: .at(5))
        #expect(Self.summaries(stream, after: .at([1: 0])) == ["created y", "created z"])
        #expect(Self.summaries(stream, after: .at([1: 2])) == ["deleted x", "created z"])
    }

    @Test("A reader does not get the deletion of a record that it never had")
    func neverHad() {
        var stream = FollowedStream(epoch: .first, end: .at(0))
        stream.append([.ended("a", number: 1), .note("b", number: 2, shownSince: 2)], to: 2, end: .at(2))
        #expect(Self.summaries(stream, after: .at([1: 0])) == ["created b"])
    }

    @Test("A record that has expired is left out")
    func expired() {
        var stream = Self.stream
        let changes: [Change] = [
            .note("a", number: 11, expiresAt: "2030-01-01T00:00:00.000000Z"), .note("b", number: 12),
        ]
        stream.append(changes, to: 12, end: .at(12))
        let year = { Date(timeIntervalSince1970: $0 * 31_557_600) }
        #expect(Self.summaries(stream, after: .at([1: 10]), at: year(59)) == ["updated a", "updated b"])
        #expect(Self.summaries(stream, after: .at([1: 10]), at: year(61)) == ["updated b"])
    }

    @Test("After another start of PostgreSQL, all read by themselves")
    func epoch() {
        var stream = Self.stream
        stream.append([.note("a", number: 11)], to: 11, end: .at(11))
        #expect(Self.summaries(stream, after: .at([1: 10], in: .second)) == nil)
        stream.restart(at: .at(11), epoch: .second)
        #expect(Self.summaries(stream, after: .at([1: 11])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 10], in: .second)) == nil)
        #expect(Self.summaries(stream, after: .at([1: 11], in: .second)) == [])
    }

    @Test("1 MiB of changes is cached, and not one more; each counts half a KiB besides its data")
    func bytes() {
        var stream = Self.stream
        stream.append((11...26).map { .note("n\($0)", number: $0, bytes: 65_536 - 512) }, to: 26, end: .at(26))
        #expect(stream.byteCount == 1_048_576 && Self.summaries(stream, after: .at([1: 10]))?.count == 16)
        stream.append([.note("n27", number: 27)], to: 27, end: .at(27))
        #expect(Self.summaries(stream, after: .at([1: 10])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 11]))?.count == 16)
        #expect(stream.byteCount == 15 * 65_536 + 514)
        stream.forget()
        #expect(stream.byteCount == 0 && Self.summaries(stream, after: .at([1: 26])) == nil)
        #expect(Self.summaries(stream, after: .at([1: 27])) == [])
    }

    @Test("A record that changes again takes no more room; one whose change was dropped replaces no other")
    func changedAgain() {
        var stream = Self.stream
        stream.append((11...26).map { .note("n\($0)", number: $0, bytes: 65_536 - 512) }, to: 26, end: .at(26))
        stream.append([.note("n12", number: 27, bytes: 65_536 - 512)], to: 27, end: .at(27))
        #expect(stream.byteCount == 1_048_576)
        #expect(stream.changes.map(\.id) == ["n11"] + (13...26).map { "n\($0)" } + ["n12"])
        // This drops n11 and n13, and then n11 changes again.
        stream.append([.note("new", number: 28, bytes: 65_536)], to: 28, end: .at(28))
        stream.append([.note("n11", number: 29)], to: 29, end: .at(29))
        #expect(stream.changes.map(\.id) == (14...26).map { "n\($0)" } + ["n12", "new", "n11"])
        stream.forget()
        stream.append([.note("n12", number: 30)], to: 30, end: .at(30))
        #expect(stream.changes.map(\.id) == ["n12"] && stream.byteCount == 514)
    }
}
