import Budgets
import FoundationEssentials
import OrderedCollections
import Postgres
import SelfieAccounts
import Synchronization

/// The readers of a process who wait for changes, and what wakes them.
///
/// After a notification, the hub reads the stream and wakes its readers. Notifications may be lost. So it also compares
/// all readers and their streams with the database, every eight seconds.
package final class ChangeHub: Sendable {
    private struct State {
        var streams = FollowedStreams()
        var isComparisonDue = false
        var isStopping = false
        var isListening = false
        var lostConnectionCount = 0
    }

    private let store: ChangeStore
    private let now: @Sendable () -> Date
    /// Called when there may be something to send out.
    private let onDeliveries: @Sendable () -> Void
    private let state = Mutex(State())
    /// Has an element when there may be something to compare.
    private let signals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// The turns of readers who read all of their streams.
    ///
    /// Others wait, so that calls find connections. Users take turns.
    let readings = FairSemaphore("CHANGE_READS", limits: .init(permits: 2))

    /// How many groups of readers are compared in a tick: with one, all are compared in eight seconds.
    private let comparedGroups: Int
    /// In how many groups a tick looks for readers whose deadline has passed.
    private static let dueGroups = 25
    /// The time between two ticks, which look at some readers only: thousands at once would delay other calls.
    private static let tick: Duration = .milliseconds(20)
    /// The pause before a retry when the database can't be reached.
    private static let retryTime: Duration = .seconds(1)

    init(
        store: ChangeStore,
        now: @escaping @Sendable () -> Date,
        comparedGroups: Int = 1,
        onDeliveries: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.now = now
        self.onDeliveries = onDeliveries
        self.comparedGroups = comparedGroups
    }

    /// How many readers there are.
    package var listenerCount: Int { state.withLock { $0.streams.readerCount } }

    /// How often the connection that receives notifications was lost, since the process began.
    package var lostConnectionCount: Int { state.withLock { $0.lostConnectionCount } }

    /// Wakes readers until its task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await self.listen() }
            tasks.addTask { await self.lookAtReaders() }
            tasks.addTask { await self.compareAgainAndAgain() }
        }
    }

    /// Ends all readers, and new ones: the process ends.
    package func stop() {
        let readers = state.withLock { state in
            state.isStopping = true
            return state.streams.readers(inGroups: 0..<ChangeListener.groupCount)
        }
        for reader in readers { reader.wake { $0.isStopping = true } }
    }

    // MARK: Readers

    /// Adds a reader.
    func add(_ listener: ChangeListener) {
        let isStopping = state.withLock { state in
            state.streams.add(listener)
            return state.isStopping
        }
        if isStopping { listener.wake { $0.isStopping = true } }
    }

    /// Notes the position of a reader that has queried the database itself, and wakes it for later changes of its
    /// streams.
    func move(_ listener: ChangeListener, to batch: ChangeBatch) {
        let missed = state.withLock { $0.streams.move(listener, to: batch) }
        listener.position = batch.position
        if !missed.isEmpty { listener.wake { $0.changed.formUnion(missed) } }
    }

    /// Removes a reader.
    func remove(_ listener: ChangeListener) {
        state.withLock { $0.streams.remove(listener) }
    }

    /// The next changes of a stream that its process has read, which may be none; nil if the reader must query itself.
    func next(of stream: Int, after position: ChangeBatch, for query: ChangeQuery) -> ChangeBatch? {
        state.withLock { $0.streams[stream] }?.next(of: stream, after: position, for: query, at: now())
    }

    // MARK: What wakes them

    private func listen() async {
        for await event in store.postgres.listen(to: ChangeNotifier.channel) {
            switch event {
            case .mayHaveMissed:
                state.withLock { state in
                    if state.isListening { state.lostConnectionCount += 1 }
                    state.isListening = true
                    state.streams.compareAllSoon()
                }
                onDeliveries()
            case .notification(let notification):
                let parts = notification.payload.split(separator: ",").compactMap(ChangeNotifier.Notification.init)
                // What changed of a user may be told to webhooks. Writers of records say whether theirs may be.
                if parts.contains(where: { if case .stream = $0 { false } else { true } }) { onDeliveries() }
                for reader in state.withLock({ state in parts.flatMap { state.streams.note($0) } }) {
                    reader.wake { $0.needsRead = true }
                }
                signals.continuation.yield()
            }
        }
    }

    private func lookAtReaders() async {
        var group = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.tick)
            let readers = state.withLock { state in
                state.isComparisonDue = true
                return state.streams.readers(inGroups: group..<group + Self.dueGroups)
            }
            let now = ContinuousClock.now
            for reader in readers { reader.wake(ifDueAt: now) }
            group += Self.dueGroups
            signals.continuation.yield()
        }
    }

    private func compareAgainAndAgain() async {
        for await _ in signals.stream {
            while !Task.isCancelled, let work = takeWork() {
                do {
                    try await compare(work)
                } catch let error as PostgresError where error.isUnavailable {
                    state.withLock { $0.streams.putBack(work) }
                    try? await Task.sleep(for: Self.retryTime)
                } catch {
                    // Each queries the database itself, and gets the error.
                    for reader in state.withLock({ $0.streams.readers(of: work) }) {
                        reader.wake { $0.needsRead = true }
                    }
                }
            }
        }
    }

    private func takeWork() -> FollowedStreams.Work? {
        state.withLock { state in
            defer { state.isComparisonDue = false }
            return state.streams.takeWork(comparing: state.isComparisonDue ? comparedGroups : nil)
        }
    }

    /// Compares all readers, and reads the streams that have changed.
    func compareAll() async throws {
        let work = state.withLock { $0.streams.takeWork(comparing: ChangeListener.groupCount) }
        if let work { try await compare(work) }
        while let work = state.withLock({ $0.streams.takeWork(comparing: nil) }) { try await compare(work) }
    }

    /// Compares streams and readers with the database, reads the next changes of the streams, and wakes their readers.
    private func compare(_ work: FollowedStreams.Work) async throws {
        let found = try await store.compare(work)
        // Before the changes are in the cache: they may be none of theirs.
        for reader in found.outdatedReaders { reader.wake { $0.needsRead = true } }
        for (readers, stream) in state.withLock({ $0.streams.take(found, of: work) }) {
            let time = stream.flatMap { work.changed[$0] } ?? .now
            for reader in readers {
                reader.wake(at: time) { news in
                    if let stream { news.changed.insert(stream) } else { news.needsRead = true }
                }
            }
        }
    }
}
