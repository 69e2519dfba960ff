import OrderedCollections
import SelfieAccounts

/// The readers of a process, which streams they follow, and which of these streams are to be read.
struct FollowedStreams {
    /// The readers, in groups that are compared in turn.
    private var groups = [Set<ChangeListener>](repeating: [], count: ChangeListener.groupCount)
    private var nextGroup = 0
    /// How many groups are to be compared soon, since everything may have changed.
    private var soonCount = 0
    private var byUser: [Int: Set<ChangeListener>] = [:]
    private var streams: [Int: FollowedStream] = [:]
    /// The streams that are to be read, the oldest first, and when it became known that they have changed.
    private(set) var changed: OrderedDictionary<Int, ContinuousClock.Instant> = [:]
    /// About how many bytes of changes all streams have in memory.
    private(set) var cachedBytes = 0

    /// About the most of these bytes, not counting the streams that were read last.
    static let maxCachedBytes = 16 << 20
    /// With more readers than this, their sessions and roles are not compared each time that a stream is read.
    private static let fewCount = 16
    /// How many groups are compared at once when everything may have changed: with a tick of 20 ms, all within a second.
    private static let soonGroupCount = 10

    subscript(stream: Int) -> FollowedStream? { streams[stream] }

    // MARK: Readers

    var readerCount: Int { groups.reduce(0) { $0 + $1.count } }

    /// The readers of some groups; the first group follows the last.
    func readers(inGroups numbers: Range<Int>) -> [ChangeListener] {
        numbers.flatMap { groups[$0 % groups.count] }
    }

    mutating func add(_ listener: ChangeListener) {
        groups[listener.group].insert(listener)
        byUser[listener.reader.userID, default: []].insert(listener)
    }

    mutating func remove(_ listener: ChangeListener) {
        groups[listener.group].remove(listener)
        byUser[listener.reader.userID]?.remove(listener)
        if byUser[listener.reader.userID]?.isEmpty == true { byUser[listener.reader.userID] = nil }
        for stream in listener.streams { leave(stream, listener) }
    }

    /// Has a reader follow the streams that it has read itself.
    ///
    /// - Returns: The streams of which more was read for others meanwhile.
    mutating func move(_ listener: ChangeListener, to batch: ChangeBatch) -> Set<Int> {
        for stream in listener.streams where batch.end.positions[stream] == nil { leave(stream, listener) }
        var missed: Set<Int> = []
        for (stream, position) in batch.end.positions {
            let followed = streams[stream]
            streams[stream, default: FollowedStream(epoch: batch.end.epoch, end: position.end)].readers.insert(listener)
            let number = followed?.position.number ?? 0
            if number > position.end.number { missed.insert(stream) }
            // A change between the reading and now was noted for no reader. Others may not have what this reader has.
            if number < position.end.number || followed?.epoch != batch.end.epoch { noteChange(of: stream) }
        }
        return missed
    }

    private mutating func noteChange(of stream: Int) {
        if changed[stream] == nil { changed[stream] = .now }
    }

    private mutating func leave(_ stream: Int, _ listener: ChangeListener) {
        streams[stream]?.readers.remove(listener)
        guard streams[stream]?.readers.isEmpty == true else { return }
        update(stream) { $0 = nil }
        changed[stream] = nil
    }

    private mutating func update(_ stream: Int, _ body: (inout FollowedStream?) -> Void) {
        cachedBytes -= streams[stream]?.byteCount ?? 0
        body(&streams[stream])
        cachedBytes += streams[stream]?.byteCount ?? 0
    }

    // MARK: What has changed

    /// Notes a notification.
    ///
    /// - Returns: The readers who must read all of their streams.
    mutating func note(_ notification: ChangeNotifier.Notification) -> Set<ChangeListener> {
        switch notification {
        case .stream(let stream):
            if streams[stream] != nil { noteChange(of: stream) }
        case .user(let user): return byUser[user] ?? []
        case .deliveries: break
        case .everything: compareAllSoon()
        }
        return []
    }

    /// Has all readers compared within a second.
    mutating func compareAllSoon() {
        soonCount = groups.count
    }

    /// What is to be compared with the database, all in one snapshot.
    struct Work {
        /// Up to where the streams were read.
        var streams: [Int: ChangeCursor.Position] = [:]
        /// Those of the streams that have changed, and when that became known.
        var changed: OrderedDictionary<Int, ContinuousClock.Instant> = [:]
        /// Those whose sessions are compared.
        var readers: Set<ChangeListener> = []
        /// Those of them whose roles are compared, too.
        var rolesCompared: Set<ChangeListener> = []
        /// The streams all of whose readers are compared.
        var comparedStreams: Set<Int> = []
    }

    /// Takes what is to be compared next: some groups of readers with all of their streams, and the streams that have changed.
    ///
    /// Streams that few follow, such as a user's own, are read together with what their readers have access to. Roles
    /// matter only to the streams of roles.
    mutating func takeWork(comparing groupCount: Int?) -> Work? {
        var work = Work()
        let count = groupCount.map { soonCount > 0 ? max($0, Self.soonGroupCount) : $0 } ?? 0
        work.readers = Set(readers(inGroups: nextGroup..<nextGroup + min(count, groups.count)))
        work.rolesCompared = work.readers
        (nextGroup, soonCount) = (nextGroup + count, max(0, soonCount - count))
        for stream in work.readers.flatMap(\.streams) { work.streams[stream] = streams[stream]?.position }
        for (stream, time) in changed.elements.prefix(ComparisonStatement.maxReadCount) {
            work.changed[stream] = time
            guard let followed = streams[stream] else { continue }
            work.streams[stream] = followed.position
            if followed.readers.count <= Self.fewCount {
                work.readers.formUnion(followed.readers)
                work.rolesCompared.formUnion(
                    followed.readers.filter { $0.position?.access.roleStreams.contains(stream) ?? false }
                )
                work.comparedStreams.insert(stream)
            }
        }
        changed.removeFirst(work.changed.count)
        return work.streams.isEmpty && work.readers.isEmpty ? nil : work
    }

    /// Puts failed work back at the end of the queue.
    mutating func putBack(_ work: Work) {
        for (stream, time) in work.changed where streams[stream] != nil { changed[stream] = time }
        compareAllSoon()
    }

    /// The readers that a failed comparison concerns.
    func readers(of work: Work) -> Set<ChangeListener> {
        work.readers.union(work.changed.keys.compactMap { streams[$0]?.readers }.joined())
    }

    /// Applies the result of a comparison.
    ///
    /// - Returns: The readers to wake besides the outdated ones, with the stream that has changed; nil if they must read
    ///   all of their streams.
    mutating func take(_ found: ChangeComparison, of work: Work) -> [(readers: Set<ChangeListener>, stream: Int?)] {
        var woken: [(readers: Set<ChangeListener>, stream: Int?)] = []
        for (id, position) in work.streams {
            // Its readers may have left, and others joined.
            guard streams[id]?.position == position, let readers = streams[id]?.readers else { continue }
            guard let stream = found.streams[id] else {
                woken.append((readers, nil))
                continue
            }
            if found.epoch != streams[id]?.epoch || stream.isLost || stream.forgotten > position.number {
                // Some may have read the present state themselves.
                let others = readers.filter { reader in
                    reader.position?.end.epoch != found.epoch
                        || reader.position?.end.number(in: id) != stream.end.number
                }
                woken.append((others, nil))
                update(id) { $0?.restart(at: stream.end, epoch: found.epoch) }
            } else if stream.reached > position.number {
                // Who came meanwhile was not compared.
                let joined = work.comparedStreams.contains(id) ? readers.subtracting(work.readers) : []
                woken.append((joined, nil))
                woken.append((readers.subtracting(joined), id))
                update(id) { $0?.append(found.changes[id] ?? [], to: stream.reached, end: stream.end) }
            }
            if streams[id]?.position.number != stream.end.number { noteChange(of: id) }
        }
        // Readers who are behind in other streams query the database themselves.
        if cachedBytes > Self.maxCachedBytes {
            for id in streams.keys where cachedBytes > Self.maxCachedBytes && work.changed[id] == nil {
                update(id) { $0?.forget() }
            }
        }
        return woken
    }
}

extension ChangeListener {
    /// The streams that the reader follows.
    var streams: [Int] { position.map { Array($0.end.positions.keys) } ?? [] }
}
