import Algorithms
import Budgets
import FoundationEssentials
import Postgres
import Synchronization
package import SelfieAccounts

/// The readers of a process who wait for changes, and what wakes them.
///
/// The notifier wakes them at once. Whatever it did, all that a reader waits for is compared with the database every eight seconds.
package final class ChangeHub: Sendable {
    private struct Reader {
        let listener: ChangeListener
        /// When all that it waits for is compared next.
        var comparison = ContinuousClock.now
    }

    private struct State {
        var readers: [ObjectIdentifier: Reader] = [:]
        var byUser: [Int: Set<ObjectIdentifier>] = [:]
        var byStream: [Int: Set<ObjectIdentifier>] = [:]
        var reminders = ChangeReminders()
        var comparisons = ChangeReminders()
        var isStopping = false
        var isListening = false
        var lostConnectionCount = 0

        /// Has a reader compared after a random time, and no other.
        mutating func compare(_ id: ObjectIdentifier, in milliseconds: ClosedRange<Int>) {
            let time = ContinuousClock.now + .milliseconds(Int.random(in: milliseconds))
            readers[id]?.comparison = time
            comparisons.add(id, at: time)
        }
    }

    private let postgres: PostgresClient
    let tails: ChangeTails
    private let state = Mutex(State())
    let readings = FairSemaphore("CHANGE_READS", limits: .init(permits: readingsAtOnce))
    let lookups = FairSemaphore("CHANGE_LOOKUPS", limits: .init(permits: lookupsAtOnce))

    /// After how many milliseconds a reader is compared again: whatever the notifier has lost is known within ten seconds.
    private let comparisonMilliseconds: ClosedRange<Int>
    /// Within how many milliseconds all readers are compared, when nobody knows who has missed something.
    private static let soonMilliseconds = 0...800
    /// After how many milliseconds a comparison is tried again that failed.
    private static let retryMilliseconds = 500...1_500
    /// How often the hub looks for readers to compare.
    ///
    /// Of ten thousand, it finds sixty each time. With more at once, other calls would wait for that.
    private static let comparisonTick: Duration = .milliseconds(50)
    /// The readers who are compared together.
    private static let comparedAtOnce = 250
    /// The readers of a process who read alone at the same time.
    ///
    /// Others wait, so that calls find connections.
    private static let readingsAtOnce = 2
    /// The readers who look up their next change at the same time; they share a statement.
    ///
    /// Others wait, so that other look-ups find permits.
    private static let lookupsAtOnce = 64

    init(
        postgres: PostgresClient,
        store: ChangeStore,
        now: @escaping @Sendable () -> Date,
        comparisonMilliseconds: ClosedRange<Int> = 7_500...8_500
    ) {
        self.postgres = postgres
        self.comparisonMilliseconds = comparisonMilliseconds
        tails = ChangeTails(store: store, now: now)
    }

    /// Waits for a reader's turn.
    ///
    /// - Parameters:
    ///   - userID: Whose reader it is; users take turns.
    ///   - looksUp: Whether to look up the next change only.
    /// - Returns: The turn, which ends when this is dropped.
    /// - Throws: `CancellationError`.
    func turn(of userID: Int, looksUp: Bool) async throws -> FairSemaphore.Permit {
        try await (looksUp ? lookups : readings).acquire(for: FairSemaphore.Caller(group: "\(userID)"))
    }

    /// How many readers there are.
    package var listenerCount: Int { state.withLock { $0.readers.count } }

    /// How often the connection that hears the notifier was lost, since the process began.
    package var lostConnectionCount: Int { state.withLock { $0.lostConnectionCount } }

    /// Wakes readers until its task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await self.listen() }
            tasks.addTask { await self.compareAgainAndAgain() }
            tasks.addTask { await self.wakeWhenDue() }
        }
    }

    /// Ends all readers, and those to come: the process ends.
    package func stop() {
        let listeners = state.withLock { state in
            state.isStopping = true
            return state.readers.values.map(\.listener)
        }
        for listener in listeners { listener.wake { $0.isStopping = true } }
    }

    // MARK: Readers

    /// Adds a reader, who hears of what changes from now on.
    func add(_ listener: ChangeListener) {
        let id = ObjectIdentifier(listener)
        let isStopping = state.withLock { state in
            state.readers[id] = Reader(listener: listener)
            state.byUser[listener.userID, default: []].insert(id)
            // Readers who came together are compared at different times from the beginning.
            state.compare(id, in: 0...comparisonMilliseconds.upperBound)
            return state.isStopping
        }
        if isStopping { listener.wake { $0.isStopping = true } }
    }

    /// Tells where a reader is, and in which streams.
    ///
    /// - Parameters:
    ///   - listener: The reader.
    ///   - batch: What the reader has read last.
    func move(_ listener: ChangeListener, to batch: ChangeBatch) {
        let (old, positions) = (listener.positions, batch.end.positions)
        listener.move(to: batch)
        guard old.count != positions.count || positions.keys.contains(where: { old[$0] == nil }) else { return }
        let id = ObjectIdentifier(listener)
        state.withLock { state in
            for stream in old.keys where positions[stream] == nil { leave(stream, id, &state) }
            let added = positions.keys.filter { old[$0] == nil }
            for stream in added { state.byStream[stream, default: []].insert(id) }
            // What has changed in it after it was read, and before now, has woken nobody.
            if !added.isEmpty { state.compare(id, in: 0...0) }
        }
    }

    /// Removes a reader.
    func remove(_ listener: ChangeListener) {
        let id = ObjectIdentifier(listener)
        state.withLock { state in
            state.readers[id] = nil
            state.byUser.remove(id, from: listener.userID)
            for stream in listener.positions.keys { leave(stream, id, &state) }
        }
    }

    private func leave(_ stream: Int, _ id: ObjectIdentifier, _ state: inout State) {
        state.byStream.remove(id, from: stream)
        if state.byStream[stream] == nil { tails.forget(stream) }
    }

    /// Waits until something changes that a reader may see, or until a time.
    ///
    /// - Parameters:
    ///   - listener: The reader.
    ///   - time: The time.
    /// - Returns: What has changed; nothing when the time has come, or the task is cancelled.
    func wait(_ listener: ChangeListener, until time: ContinuousClock.Instant) async -> ChangeListener.Wake {
        await listener.next(until: time) { remind(listener, at: time) }
    }

    private func remind(_ listener: ChangeListener, at time: ContinuousClock.Instant) {
        state.withLock { $0.reminders.add(ObjectIdentifier(listener), at: time) }
    }

    // MARK: What wakes them

    private func listen() async {
        for await event in postgres.listen(to: ChangeNotifier.channel) {
            switch event {
            case .mayHaveMissed:
                state.withLock { state in
                    if state.isListening { state.lostConnectionCount += 1 }
                    state.isListening = true
                }
                compareSoon()
            case .notification(let notification):
                let rings = notification.payload.split(separator: ",").compactMap(ChangeNotifier.Ring.init)
                if rings.contains(.everything) { compareSoon() }
                for ring in rings { wake(ring) }
            }
        }
    }

    private func wake(_ ring: ChangeNotifier.Ring) {
        let woken = state.withLock { state -> [ChangeListener] in
            let ids: Set<ObjectIdentifier> =
                switch ring {
                case .stream(let stream): state.byStream[stream] ?? []
                case .user(let user): state.byUser[user] ?? []
                case .everything: []
                }
            return ids.compactMap { state.readers[$0]?.listener }
        }
        guard !woken.isEmpty else { return }
        if case .stream(let stream) = ring { tails.changed(stream) }
        for listener in woken { listener.wake { $0.note(ring) } }
    }

    private func wakeWhenDue() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: ChangeReminders.tick)
            let now = ContinuousClock.now
            let due = state.withLock { state in
                state.reminders.removeDue(at: now).compactMap { state.readers[$0]?.listener }
            }
            for listener in due {
                if let time = listener.remind(at: now) { remind(listener, at: time) }
            }
        }
    }

    // MARK: Comparison

    private func compareAgainAndAgain() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.comparisonTick)
            let now = ContinuousClock.now
            let due = state.withLock { state in
                let ids = state.comparisons.removeDue(at: now).filter { id in
                    // Another time may have taken the place of this one.
                    state.readers[id].map { $0.comparison <= now } ?? false
                }
                for id in ids { state.compare(id, in: comparisonMilliseconds) }
                return ids.compactMap { state.readers[$0]?.listener }
            }
            await compare(due)
        }
    }

    /// Has all readers compared within a second, a few at a time.
    private func compareSoon() {
        let end = ContinuousClock.now + .milliseconds(Self.soonMilliseconds.upperBound)
        state.withLock { state in
            let later = state.readers.filter { $0.value.comparison > end }.keys
            for id in later { state.compare(id, in: Self.soonMilliseconds) }
        }
    }

    /// Compares all that readers wait for with the database, and wakes whose streams, session, roles or schema changed.
    func compare() async {
        await compare(state.withLock { $0.readers.values.map(\.listener) })
    }

    private func compare(_ listeners: [ChangeListener]) async {
        for part in listeners.chunks(ofCount: Self.comparedAtOnce) {
            do {
                try await comparePart(part)
            } catch {
                state.withLock { state in
                    for listener in part { state.compare(ObjectIdentifier(listener), in: Self.retryMilliseconds) }
                }
            }
        }
    }

    private func comparePart(_ listeners: some Collection<ChangeListener>) async throws {
        let present = try await ChangeComparison.read(of: listeners, from: postgres)
        let missed = listeners.compactMap { listener in present.missed(by: listener).map { (listener, $0) } }
        for stream in Set(missed.flatMap(\.1.changed)) { tails.changed(stream, to: present.streams[stream]?.number) }
        for (listener, wake) in missed { listener.wake { $0.formUnion(wake) } }
    }
}

extension ChangeListener.Wake {
    /// Notes what has changed.
    fileprivate mutating func note(_ ring: ChangeNotifier.Ring) {
        if case .stream(let stream) = ring { changed.insert(stream) } else { needsRead = true }
    }
}

extension [Int: Set<ObjectIdentifier>] {
    fileprivate mutating func remove(_ id: ObjectIdentifier, from key: Int) {
        self[key]?.remove(id)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
