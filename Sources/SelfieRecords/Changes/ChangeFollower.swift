import Budgets
import FoundationEssentials
import Postgres
import RecordSchema
package import SelfieAccounts

/// One client that follows changes.
///
/// It has no queue: only the place where the client is.
package final class ChangeFollower {
    private let query: ChangeQuery
    private let reader: ChangeReader
    private let parts: FollowChanges
    private let listener: ChangeListener
    private let end: ContinuousClock.Instant
    private var start: ChangeQuery.Start
    /// Where the client is; nil before the first reading.
    private var cursor: ChangeCursor?
    private var sessionExpiry: Date?
    private var ownStream = 0
    private var needsRead = true
    /// The streams that have changed.
    private var changed: Set<Int> = []
    /// Whether all that was there when the client came has been told, and whether the client knows.
    private var (isCaughtUp, isSynced) = (false, false)
    private var isStopping = false
    /// When what the client is told now became known to the process; nil for what was there before.
    package private(set) var wakeTime: ContinuousClock.Instant?
    /// When the client hears that nothing has happened, unless it is told something before.
    private var heartbeat = time(in: silenceMilliseconds)
    /// When the use of the session is noted again, as the client's request did.
    private var nextUse: ContinuousClock.Instant
    /// When the client was last told where it is.
    private var lastCursor = ContinuousClock.now
    private var hasSkipped = false
    /// When it is tried again to read; nil when the last try succeeded.
    private var retryTime: ContinuousClock.Instant?

    /// After how many milliseconds it is tried again when the database can't be reached.
    private static let retryMilliseconds = 500...2_000
    /// After how many milliseconds of silence a client is told that there is nothing to tell.
    ///
    /// They are random and far apart: clients that came, or heard one change, together are not told together again.
    private static let silenceMilliseconds = 8_000...14_500
    /// The same after a silence: those who are told apart stay apart.
    private static let longSilenceMilliseconds = 13_500...14_500
    /// How often a client is told where it is, of what others write.
    private static let cursorInterval: Duration = .seconds(30)

    init(
        query: ChangeQuery,
        start: ChangeQuery.Start,
        reader: ChangeReader,
        parts: FollowChanges,
        lifetime: Duration
    ) {
        self.query = query
        self.start = start
        self.reader = reader
        self.parts = parts
        nextUse = Self.time(in: parts.useMilliseconds)
        listener = ChangeListener(userID: reader.userID ?? 0, sessionID: reader.sessionID)
        end = ContinuousClock.now + lifetime
        parts.hub.add(listener)
    }

    deinit {
        parts.hub.remove(listener)
    }

    /// Where the client is, as a batch without changes; nil before the first reading.
    var place: ChangeBatch? {
        cursor.map { cursor in
            ChangeBatch(
                changes: [],
                start: cursor,
                end: cursor,
                hasMore: false,
                ownStream: ownStream,
                schemaVersion: listener.schemaVersion,
                sessionExpiry: sessionExpiry
            )
        }
    }

    /// Waits for what the client is told next.
    ///
    /// - Returns: An event, after at most a quarter of a minute.
    /// - Throws: `CancellationError`, `PostgresError`.
    package func next() async throws -> Event {
        let event = try await nextEvent()
        switch event {
        case .changes, .synced, .cursor:
            (lastCursor, hasSkipped) = (ContinuousClock.now, false)
            heartbeat = Self.time(in: Self.silenceMilliseconds)
        case .nothing: heartbeat = Self.time(in: Self.longSilenceMilliseconds)
        case .reset, .end: return event
        }
        if let session = reader.sessionID, ContinuousClock.now >= nextUse {
            nextUse = Self.time(in: parts.useMilliseconds)
            parts.uses?.note(session)
        }
        return event
    }

    private func nextEvent() async throws -> Event {
        while true {
            try Task.checkCancellation()
            // A client that is behind has lost its role, too, or is to leave.
            if note(listener.pending()) { return .end(.restart) }
            if ContinuousClock.now >= end { return .end(.renew) }
            if let event = try await read() { return event }
            if isStopping { return .end(.restart) }
            let now = ContinuousClock.now
            if let cursor, hasSkipped, now >= lastCursor + Self.cursorInterval { return .cursor(cursor) }
            if now >= heartbeat { return .nothing }
            if note(await parts.hub.wait(listener, until: nextTime(after: now))) { return .end(.restart) }
        }
    }

    /// Notes what is to be read.
    ///
    /// - Parameters:
    ///   - wake: What has changed.
    ///   - isReading: Whether something else is being read, whose time is kept.
    /// - Returns: Whether the process ends.
    private func note(_ wake: ChangeListener.Wake, isReading: Bool = false) -> Bool {
        // A change that still waits keeps its time.
        if !isReading, !needsRead, changed.isEmpty { wakeTime = wake.time }
        needsRead = needsRead || wake.needsRead
        changed.formUnion(wake.changed)
        isStopping = isStopping || wake.isStopping
        return isStopping
    }

    private static func time(in milliseconds: ClosedRange<Int>) -> ContinuousClock.Instant {
        .now + .milliseconds(Int.random(in: milliseconds))
    }

    private func nextTime(after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        var time = min(end, heartbeat)
        if hasSkipped { time = min(time, lastCursor + Self.cursorInterval) }
        if let retryTime { time = min(time, retryTime) }
        guard retryTime == nil, let sessionExpiry else { return time }
        return min(time, now + .seconds(max(0, sessionExpiry.timeIntervalSince(parts.now()))))
    }

    /// Reads what is new; nil when there is nothing to tell.
    private func read() async throws -> Event? {
        if let retryTime, ContinuousClock.now < retryTime { return nil }
        retryTime = nil
        // A remembered session may have been used elsewhere meanwhile.
        if hasExpired { needsRead = true }
        while needsRead || !changed.isEmpty {
            if let synced = synced() { return synced }
            if note(listener.pending()) { return .end(.restart) }
            let batch: ChangeBatch
            do {
                guard let next = try await nextBatch() else { continue }
                batch = next
            } catch let reset as ChangeReset {
                return .reset(reset)
            } catch is RecordRefusal {
                // A collection that was asked for was removed.
                return .reset(.access)
            } catch is SessionError {
                return .end(.session)
            } catch is InvalidSchema {
                // A newer process has applied it, and this one is about to be replaced.
                return .end(.restart)
            } catch let error as PostgresError where error.isUnavailable {
                // Nothing is lost, so the client need not come again.
                needsRead = true
                retryTime = Self.time(in: Self.retryMilliseconds)
                return nil
            }
            // The client comes again from where it was.
            if hasExpired { return .end(.expired) }
            let hasMoved = cursor.map { $0 != batch.end } ?? false
            (cursor, start, isCaughtUp) = (batch.end, .after(batch.end), isCaughtUp || !batch.hasMore)
            if !batch.changes.isEmpty { return .changes(batch) }
            if hasMoved { hasSkipped = true }
            // Much may have been written that the client has no part in.
            let now = ContinuousClock.now
            if hasMoved, now >= lastCursor + Self.cursorInterval { return .cursor(batch.end) }
            if now >= heartbeat { return .nothing }
        }
        return synced()
    }

    private func synced() -> Event? {
        guard isCaughtUp, !isSynced, let cursor else { return nil }
        isSynced = true
        return .synced(cursor)
    }

    private var hasExpired: Bool { sessionExpiry.map { parts.now() >= $0 } ?? false }

    /// Reads once; nil when something else must be looked at first.
    private func nextBatch() async throws -> ChangeBatch? {
        let stream = needsRead ? nil : changed.popFirst()
        if let stream, stream != ownStream {
            let batch = await sharedBatch(of: stream)
            needsRead = needsRead || batch == nil
            return batch
        }
        let turn = try await parts.hub.turn(of: listener.userID, looksUp: stream != nil)
        defer { withExtendedLifetime(turn) {} }
        // The line may have been long.
        if note(listener.pending(), isReading: true) { return nil }
        if stream != nil {
            changed.remove(ownStream)
            let batch = try await ownBatch()
            needsRead = needsRead || batch?.hasMore ?? true
            return batch
        }
        // All of the streams are read, those that others read with this one, too.
        (needsRead, changed) = (false, [])
        let batch = try await readAlone()
        parts.hub.move(listener, to: batch)
        needsRead = batch.hasMore
        return batch
    }

    private func readAlone() async throws -> ChangeBatch {
        // In a task of its own, whose memory goes when it ends: the follower waits for hours.
        let reading = Task.detached { [parts, query, start, reader] in
            try await parts.store.read(query, from: start, by: reader)
        }
        let batch = try await reading.value
        (sessionExpiry, ownStream) = (batch.sessionExpiry, batch.ownStream)
        return batch
    }

    /// The next change of the stream that nobody else reads; nil where all streams must be read.
    private func ownBatch() async throws -> ChangeBatch? {
        guard !needsRead, let cursor else { return nil }
        let looking = Task.detached { [parts, ownStream, reader] in
            try await parts.store.next(after: cursor, in: ownStream, by: reader)
        }
        guard let batch = try await looking.value else { return nil }
        sessionExpiry = batch.sessionExpiry
        return part(of: ownStream, batch.changes, to: batch.end, hasMore: batch.hasMore, after: cursor)
    }

    /// What a process reads once for all readers of a stream; nil where all streams must be read.
    private func sharedBatch(of stream: Int) async -> ChangeBatch? {
        guard let cursor, cursor.positions[stream] != nil,
            let (changes, end, hasMore) = await parts.hub.tails.changes(of: stream, after: cursor)
        else { return nil }
        // Meanwhile the reader may have lost what the stream shows.
        guard !note(listener.pending(), isReading: true), !needsRead, !hasExpired else { return nil }
        return part(of: stream, changes, to: end, hasMore: hasMore, after: cursor)
    }

    /// Goes on in one stream.
    private func part(
        of stream: Int,
        _ changes: [Change],
        to end: ChangeCursor,
        hasMore isCut: Bool,
        after cursor: ChangeCursor
    ) -> ChangeBatch {
        let (wanted, reached, hasMore) = query.fitting(changes, to: end.positions[stream] ?? 0, hasMore: isCut)
        if hasMore { changed.insert(stream) }
        var position = cursor
        position.move(stream, to: reached, last: end.last(of: stream))
        listener.positions = position.positions
        return ChangeBatch(
            changes: wanted,
            start: cursor,
            end: position,
            hasMore: hasMore,
            ownStream: ownStream,
            schemaVersion: listener.schemaVersion,
            sessionExpiry: sessionExpiry
        )
    }
}
