import Budgets
import FoundationEssentials
import Postgres
import RecordSchema
import SelfieAccounts

/// One client that follows changes.
///
/// It has no queue: only the position where the client is.
package final class ChangeFollower {
    private let query: ChangeQuery
    private let start: ChangeQuery.Start
    private let parts: FollowChanges
    private let listener: ChangeListener
    /// When the client is to connect again.
    private let end: ContinuousClock.Instant
    /// Whether the client has received all that was there when it came, and whether it was sent `synced`.
    private var (isCaughtUp, isSynced) = (false, false)
    /// When the process learned of what was returned last; nil for what was there before.
    package private(set) var wakeTime: ContinuousClock.Instant?
    /// When the client is sent a heartbeat, unless an event is sent before.
    private var heartbeat = time(in: silenceMilliseconds)
    /// When the use of the session is noted again, as the client's request did.
    private var nextUse: ContinuousClock.Instant
    /// When the client was last sent its position.
    private var lastCursor = ContinuousClock.now
    /// Whether the position has moved since, by what the client may not see or did not ask for.
    private var hasSkipped = false

    /// The pause before a retry when the database can't be reached.
    private static let retryMilliseconds = 500...2_000
    /// After how many milliseconds without an event a client is sent a heartbeat.
    ///
    /// They are random and far apart. Otherwise clients that came together, or were sent one change together, would all be due
    /// together.
    private static let silenceMilliseconds = 8_000...14_000
    /// The same after a heartbeat: clients that are due at different times stay apart.
    private static let longSilenceMilliseconds = 13_000...14_000
    /// How often a client is sent its position when only others write.
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
        self.parts = parts
        nextUse = Self.time(in: parts.useMilliseconds)
        listener = ChangeListener(reader)
        end = ContinuousClock.now + lifetime
        listener.wake(at: nil) { $0.needsRead = true }
        parts.hub.add(listener)
    }

    deinit {
        parts.hub.remove(listener)
    }

    /// Where the client is, as a batch without changes; nil before the first reading.
    var position: ChangeBatch? { listener.position }

    /// Waits for what is to be sent to the client next.
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
        if let session = listener.reader.sessionID, ContinuousClock.now >= nextUse {
            nextUse = Self.time(in: parts.useMilliseconds)
            parts.uses?.note(session)
        }
        return event
    }

    private static func time(in milliseconds: ClosedRange<Int>) -> ContinuousClock.Instant {
        .now + .milliseconds(Int.random(in: milliseconds))
    }

    private func nextEvent() async throws -> Event {
        while true {
            try Task.checkCancellation()
            if ContinuousClock.now >= end { return .end(.renew) }
            if let event = try await read() { return event }
            let now = ContinuousClock.now
            let cursorTime = lastCursor + Self.cursorInterval
            if hasSkipped, now >= cursorTime, let position { return .cursor(position.end) }
            if now >= heartbeat { return .nothing }
            let remaining = sessionExpiry.map { now + .seconds(max(0, $0.timeIntervalSince(parts.now()))) }
            await listener.wait(until: min(end, heartbeat, hasSkipped ? cursorTime : end, remaining ?? end))
        }
    }

    private var sessionExpiry: Date? { position?.access.sessionExpiry }

    private var hasExpired: Bool { sessionExpiry.map { parts.now() >= $0 } ?? false }

    /// Reads what is new; nil when there is nothing to send.
    private func read() async throws -> Event? {
        while true {
            // A remembered session may have been used elsewhere meanwhile.
            if hasExpired { listener.wake { $0.needsRead = true } }
            guard listener.news != ChangeListener.News() else { return synced() }
            // A client that is behind must also disconnect.
            if listener.news.isStopping { return .end(.restart) }
            if let synced = synced() { return synced }
            do {
                let before = position?.end
                guard let batch = try await nextBatch() else { continue }
                isCaughtUp = isCaughtUp || !batch.hasMore
                if !batch.changes.isEmpty { return .changes(batch) }
                if let before, before != batch.end { hasSkipped = true }
            } catch let error as PostgresError where error.isUnavailable {
                // Nothing is lost, so the client need not connect again.
                listener.wake { $0.needsRead = true }
                try await Task.sleep(
                    until: min(end, heartbeat, Self.time(in: Self.retryMilliseconds)),
                    clock: .continuous
                )
                return nil
            } catch {
                return try Self.event(for: error)
            }
            // Much may have been written that the client may not see.
            let now = ContinuousClock.now
            if hasSkipped && now >= lastCursor + Self.cursorInterval || now >= heartbeat { return nil }
        }
    }

    private func synced() -> Event? {
        guard isCaughtUp, !isSynced, let position else { return nil }
        isSynced = true
        return .synced(position.end)
    }

    /// The event for an error that ends the reading.
    private static func event(for error: any Error) throws -> Event {
        switch error {
        case let reset as ChangeReset: .reset(reset)
        // A collection that was asked for was removed.
        case is RecordRefusal: .reset(.access)
        // The client connects again at the position where it was.
        case SessionError.expired: .end(.expired)
        case is SessionError: .end(.session)
        // A newer process has applied it, and this one is about to be replaced.
        case is InvalidSchema: .end(.restart)
        default: throw error
        }
    }

    /// Reads once; nil when something else must be looked at first.
    private func nextBatch() async throws -> ChangeBatch? {
        if let position, let (stream, time) = listener.takeStream() {
            wakeTime = time
            guard let batch = parts.hub.next(of: stream, after: position, for: query) else {
                listener.wake(at: time) { $0.needsRead = true }
                return nil
            }
            // The reader may have lost a right before this change was written. Then all is read again.
            if listener.news.needsRead { return nil }
            listener.position = batch.position
            if batch.hasMore { listener.wake(at: time) { $0.changed.insert(stream) } }
            return batch
        }
        let userID = listener.reader.userID
        let turn = try await parts.hub.readings.acquire(for: FairSemaphore.Caller(group: "\(userID)"))
        defer { withExtendedLifetime(turn) {} }
        // The wait may have been long.
        if listener.news.isStopping { return nil }
        wakeTime = listener.takeAll()
        // In a task of its own, whose memory is freed when it ends: the follower waits for hours.
        let reading = Task.detached { [parts, query, listener, start = position.map { .after($0.end) } ?? start] in
            try await parts.store.read(query, from: start, by: listener.reader)
        }
        let batch = try await reading.value
        parts.hub.move(listener, to: batch)
        if hasExpired { throw SessionError.expired }
        if batch.hasMore { listener.wake(at: wakeTime) { $0.needsRead = true } }
        return batch
    }
}
