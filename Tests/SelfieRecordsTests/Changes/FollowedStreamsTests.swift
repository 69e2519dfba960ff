import FoundationEssentials
import SelfieAccounts
import Testing

@testable import SelfieRecords

@Suite("The streams that readers of a process follow")
struct FollowedStreamsTests {
    private static func listener(_ userID: Int = 1) -> ChangeListener {
        ChangeListener(ChangeReader(userID: userID, sessionID: nil))
    }

    /// Has a reader follow streams as the hub does.
    @discardableResult
    private static func move(
        _ listener: ChangeListener,
        to numbers: [Int: Int],
        in epoch: ChangeEpoch = .first,
        _ streams: inout FollowedStreams
    ) -> Set<Int> {
        let batch = ChangeBatch.at(numbers, in: epoch)
        defer { listener.position = batch }
        return streams.move(listener, to: batch)
    }

    /// What is to be compared next, without groups of readers.
    private static func work(_ streams: inout FollowedStreams) throws -> FollowedStreams.Work {
        let work = streams.takeWork(comparing: nil)
        return try #require(work)
    }

    private static func expectNoWork(_ streams: inout FollowedStreams, line: Int = #line) {
        let work = streams.takeWork(comparing: nil)
        #expect(work == nil, "line \(line)")
    }

    /// Streams with readers who have nothing to read.
    private static func streams(_ listeners: [ChangeListener], at numbers: [Int: Int]) -> FollowedStreams {
        var streams = FollowedStreams()
        for listener in listeners {
            streams.add(listener)
            move(listener, to: numbers, &streams)
        }
        while streams.takeWork(comparing: nil) != nil {}
        return streams
    }

    /// What a comparison finds of streams: what stands at the numbers after those that were asked for.
    private static func found(
        _ ends: [Int: Int],
        reached: Int? = nil,
        in epoch: ChangeEpoch = .first,
        isLost: Bool = false,
        forgotten: Int = 0,
        changes: [Int: [Change]] = [:],
        outdated: Set<ChangeListener> = []
    ) -> ChangeComparison {
        ChangeComparison(
            epoch: epoch,
            streams: ends.mapValues { end in
                ChangeCursor.Check.Stream(end: .at(end), isLost: isLost, forgotten: forgotten, reached: reached ?? end)
            },
            changes: changes,
            outdatedReaders: outdated
        )
    }

    /// The streams whose readers are woken; nil for all of them.
    private static func woken(_ taken: [(readers: Set<ChangeListener>, stream: Int?)]) -> [ChangeListener: [Int?]] {
        taken.reduce(into: [:]) { woken, part in
            for reader in part.readers { woken[reader, default: []].append(part.stream) }
        }
    }

    @Test("A newly followed stream is read: it may have changed after its reader read it")
    func newStream() throws {
        var streams = FollowedStreams()
        let (ada, bob, eve) = (Self.listener(), Self.listener(2), Self.listener(3))
        for listener in [ada, bob, eve] { streams.add(listener) }
        var missed = Self.move(ada, to: [1: 10, 2: 20], &streams)
        #expect(missed.isEmpty)
        let work = try Self.work(&streams)
        #expect(work.streams.mapValues(\.number) == [1: 10, 2: 20] && work.readers == [ada])
        Self.expectNoWork(&streams)
        // Another reader needs no new read, but gets what the first has received meanwhile.
        missed = Self.move(bob, to: [2: 20], &streams)
        #expect(missed.isEmpty)
        Self.expectNoWork(&streams)
        let woken = Self.woken(streams.take(Self.found([1: 10, 2: 21]), of: work))
        // Whose access was not compared reads alone.
        #expect(woken == [ada: [2], bob: [nil]])
        for (number, isBehind) in [(20, true), (21, false), (25, false)] {
            missed = Self.move(eve, to: [2: number], &streams)
            #expect(missed == (isBehind ? [2] : []))
        }
    }

    @Test("A notification causes one read of a followed stream, and wakes readers that must read all")
    func notifications() throws {
        let (ada, bob) = (Self.listener(), Self.listener(2))
        var streams = Self.streams([ada, bob], at: [1: 10])
        for id in [1, 7, 1] {
            let woken = streams.note(.stream(id))
            #expect(woken.isEmpty)
        }
        let work = try Self.work(&streams)
        #expect(work.changed.map(\.key) == [1] && Array(work.streams.keys) == [1])
        Self.expectNoWork(&streams)
        var woken = streams.note(.user(2))
        #expect(woken == [bob])
        streams.remove(bob)
        for user in [2, 9] {
            woken = streams.note(.user(user))
            #expect(woken.isEmpty)
        }
        // Streams without followers are not read.
        _ = streams.note(.stream(1))
        streams.remove(ada)
        Self.expectNoWork(&streams)
        #expect(streams[1] == nil)
    }

    @Test("When everything may have changed, all are compared in 40 ticks, and otherwise in 400")
    func groups() {
        let readers = (0..<1_000).map { Self.listener($0) }
        var streams = Self.streams(readers, at: [1: 10])
        var (seen, tickCount): ([ChangeListener: Int], Int) = ([:], 0)
        func tick() {
            tickCount += 1
            for reader in streams.takeWork(comparing: 1)?.readers ?? [] { seen[reader, default: 0] += 1 }
        }
        for _ in 0..<400 { tick() }
        #expect(seen.count == 1_000 && seen.values.allSatisfy { $0 == 1 })
        _ = streams.note(.everything)
        for _ in 0..<40 { tick() }
        #expect(seen.values.allSatisfy { $0 == 2 })
        for _ in 0..<400 { tick() }
        #expect(seen.values.allSatisfy { $0 == 3 })
        #expect(streams.readerCount == 1_000 && Set(streams.readers(inGroups: 7..<407)).count == 1_000)
    }

    @Test("64 streams are read at a time, the oldest first; failed ones come last")
    func turns() throws {
        let numbers = Dictionary(uniqueKeysWithValues: (1...100).map { ($0, 10) })
        var streams = Self.streams([Self.listener()], at: numbers)
        for id in 1...100 { _ = streams.note(.stream(id)) }
        let first = try Self.work(&streams)
        #expect(first.changed.map(\.key) == Array(1...64))
        streams.putBack(first)
        let second = try Self.work(&streams)
        #expect(second.changed.map(\.key) == Array(65...100) + Array(1...28))
        #expect(first.changed.map(\.value)[0] == second.changed.map(\.value)[36], "what is put back keeps its time")
    }

    @Test("Access is compared for readers who share a stream with 15 others at most")
    func few() throws {
        let readers = (0..<17).map { Self.listener($0) }
        var streams = Self.streams(readers, at: [1: 10])
        _ = streams.note(.stream(1))
        let many = try Self.work(&streams)
        #expect(many.readers.isEmpty)
        streams.remove(readers[0])
        _ = streams.note(.stream(1))
        let work = try Self.work(&streams)
        #expect(work.readers == Set(readers.dropFirst()))
        let woken = Self.woken(streams.take(Self.found([1: 11]), of: work))
        #expect(woken[readers[3]] == [1] && woken[readers[4]] == [1] && woken[readers[0]] == nil)
        #expect(streams.readers(of: work) == Set(readers.dropFirst()))
    }

    @Test("Roles are compared with the streams of roles, and when a reader's turn comes")
    func roles() throws {
        let ada = Self.listener()
        var streams = Self.streams([ada], at: [1: 10, 2: 10])
        ada.position = .at([1: 10, 2: 10], roleStreams: [2])
        for (stream, compared) in [(1, []), (2, [ada])] as [(Int, Set<ChangeListener>)] {
            _ = streams.note(.stream(stream))
            let work = try Self.work(&streams)
            #expect(work.readers == [ada] && work.rolesCompared == compared)
        }
        let all = streams.takeWork(comparing: 400)
        #expect(all?.rolesCompared == [ada])
    }

    @Test("A stream that was not read to its end is read again")
    func more() throws {
        let ada = Self.listener()
        var streams = Self.streams([ada], at: [1: 10])
        _ = streams.note(.stream(1))
        let work = try Self.work(&streams)
        let found = Self.found([1: 90], reached: 12, changes: [1: [.note("a", number: 12)]])
        var woken = Self.woken(streams.take(found, of: work))
        #expect(woken == [ada: [1]])
        let next = try Self.work(&streams)
        #expect(next.streams[1] == ChangeCursor.Position(number: 12, end: .at(90), begun: nil))
        // The same again changes nothing: the stream is further.
        woken = Self.woken(streams.take(found, of: work))
        #expect(woken.isEmpty && streams[1]?.changes.count == 1)
        // It was noted that there is more, and then there is none.
        woken = Self.woken(streams.take(Self.found([1: 90]), of: next))
        #expect(woken == [ada: [1]])
        Self.expectNoWork(&streams)
    }

    @Test("Readers read by themselves when what their process knows is lost, forgotten, of another start, or not there")
    func lost() throws {
        func woken(_ found: ChangeComparison, _ body: (ChangeListener, inout FollowedStreams) -> Void = { _, _ in })
            throws
            -> [Int?]?
        {
            let ada = Self.listener()
            var streams = Self.streams([ada], at: [1: 10])
            _ = streams.note(.stream(1))
            let work = try Self.work(&streams)
            body(ada, &streams)
            return Self.woken(streams.take(found, of: work))[ada]
        }
        #expect(try woken(Self.found([1: 10])) == nil)
        #expect(try woken(Self.found([1: 10], forgotten: 10)) == nil)
        #expect(try woken(Self.found([1: 12], forgotten: 11)) == [nil])
        #expect(try woken(Self.found([1: 9], isLost: true)) == [nil])
        #expect(try woken(Self.found([:])) == [nil])
        #expect(try woken(Self.found([1: 10], in: .second)) == [nil])
        // The same holds for a stream that is compared and not read.
        let ada = Self.listener()
        var streams = Self.streams([ada], at: [1: 10])
        let work = streams.takeWork(comparing: 400)
        let compared = try #require(work)
        #expect(compared.changed.map(\.key) == [] && compared.streams.count == 1)
        for found in [Self.found([1: 12], forgotten: 11), Self.found([1: 9], isLost: true), Self.found([:])] {
            var streams = streams
            let taken = Self.woken(streams.take(found, of: compared))
            #expect(taken == [ada: [nil]])
        }
        // A reader who has read by itself since has everything.
        let other = try woken(Self.found([1: 10], in: .second)) { ada, streams in
            Self.move(ada, to: [1: 10], in: .second, &streams)
        }
        #expect(other == nil)
    }

    @Test("What one reader has read by itself is read for the others, however much it is", arguments: [1, 1_000])
    func ahead(lead: Int) throws {
        let (ada, bob) = (Self.listener(), Self.listener(2))
        var streams = Self.streams([ada, bob], at: [1: 10])
        let missed = Self.move(ada, to: [1: 10 + lead], &streams)
        #expect(missed.isEmpty)
        let work = try Self.work(&streams)
        #expect(work.streams.mapValues(\.number) == [1: 10])
        let woken = Self.woken(streams.take(Self.found([1: 10 + lead]), of: work))
        #expect(woken[bob] == [1])
        Self.expectNoWork(&streams)
    }

    @Test("A stream is compared again when a reader has read it in another epoch")
    func otherEpoch() throws {
        let (ada, bob) = (Self.listener(), Self.listener(2))
        var streams = Self.streams([ada, bob], at: [1: 10])
        let missed = Self.move(ada, to: [1: 10], in: .second, &streams)
        #expect(missed.isEmpty)
        let work = try Self.work(&streams)
        let woken = Self.woken(streams.take(Self.found([1: 10], in: .second), of: work))
        #expect(woken == [bob: [nil]])
        Self.expectNoWork(&streams)
    }

    @Test("All streams keep 16 MiB; beyond that, those lose what they keep that were not read just now")
    func cachedBytes() throws {
        let numbers = Dictionary(uniqueKeysWithValues: (1...18).map { ($0, 10) })
        var streams = Self.streams([Self.listener()], at: numbers)
        let changes: [Change] = (11...26).map { .note("n\($0)", number: $0, bytes: 65_536 - 512) }
        for id in 1...18 {
            _ = streams.note(.stream(id))
            let work = try Self.work(&streams)
            _ = streams.take(Self.found([id: 26], changes: [id: changes]), of: work)
            #expect(streams.cachedBytes == (1...18).reduce(0) { $0 + (streams[$1]?.byteCount ?? 0) })
            #expect(streams[id]?.byteCount == 1_048_576 && streams.cachedBytes <= 16_777_216)
        }
        #expect(streams.cachedBytes == 16_777_216)
    }

    @Test("A reader that loses a stream follows it no more")
    func leaves() throws {
        let (ada, bob) = (Self.listener(), Self.listener(2))
        var streams = Self.streams([ada, bob], at: [1: 10, 2: 20])
        Self.move(ada, to: [2: 20], &streams)
        #expect(streams[1]?.readers == [bob] && streams[2]?.readers == [ada, bob])
        streams.remove(bob)
        #expect(streams[1] == nil && streams[2]?.readers == [ada])
    }
}
