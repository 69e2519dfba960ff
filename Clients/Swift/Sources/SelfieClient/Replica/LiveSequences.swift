import Foundation

/// The whole result of a query, now and whenever it has changed.
///
/// A slow reader skips results in between, and gets the last one. It ends when the replica is closed or released.
public struct LiveResults<Fields: RecordFields>: AsyncSequence, Sendable {
    public typealias Element = [Record<Fields>]

    let replica: Replica
    let query: LiveQuery<Record<Fields>>

    public func makeAsyncIterator() -> Iterator { Iterator(source: LiveSource(replica, query)) }

    public struct Iterator: AsyncIteratorProtocol {
        var source: LiveSource<Record<Fields>>

        public mutating func next() async -> [Record<Fields>]? {
            await source.next() == nil ? nil : source.query.results
        }
    }
}

/// What has changed in the records that fit a query.
public struct RecordChanges<Fields: RecordFields>: Sendable {
    /// Records that fit now, and did not before.
    ///
    /// The first changes have all that fit.
    public let inserted: [Record<Fields>]
    /// Records that fitted before and fit now.
    public let updated: [Record<Fields>]
    /// The ids of records that are gone, or do not fit any more.
    public let removed: [String]
}

/// The changes of a query's records.
///
/// A slow reader gets several in one. It ends when the replica is closed or released.
public struct LiveChanges<Fields: RecordFields>: AsyncSequence, Sendable {
    public typealias Element = RecordChanges<Fields>

    let replica: Replica
    let query: LiveQuery<Record<Fields>>

    public func makeAsyncIterator() -> Iterator { Iterator(source: LiveSource(replica, query)) }

    public struct Iterator: AsyncIteratorProtocol {
        var source: LiveSource<Record<Fields>>

        public mutating func next() async -> RecordChanges<Fields>? {
            await source.next().map {
                RecordChanges(inserted: $0.inserted, updated: $0.updated, removed: $0.removed)
            }
        }
    }
}

/// The user's photos, the newest first, now and whenever they have changed.
///
/// A slow reader skips results in between, and gets the last one. It ends when the replica is closed or released.
public struct LivePhotos: AsyncSequence, Sendable {
    public typealias Element = [Photo]

    let replica: Replica

    public func makeAsyncIterator() -> Iterator { Iterator(source: LiveSource(replica, .photos)) }

    public struct Iterator: AsyncIteratorProtocol {
        var source: LiveSource<Photo>

        public mutating func next() async -> [Photo]? {
            await source.next() == nil ? nil : source.query.results
        }
    }
}

/// A replica that is not kept alive.
struct WeakReplica: Sendable {
    private(set) weak var replica: Replica?
}

/// Closes a mailbox when nobody reads it any more.
private final class Registration: Sendable {
    let mailbox = Mailbox()
    private let owner: WeakReplica
    private let id = Locked<UUID?>(nil)

    init(_ replica: Replica) { owner = WeakReplica(replica: replica) }

    func open(for collection: String) async {
        let id = await owner.replica?.open(mailbox, for: collection)
        self.id.withLock { $0 = id }
    }

    deinit {
        guard let id = id.withLock({ $0 }) else { return }
        Task { [owner] in await owner.replica?.closeMailbox(id) }
    }
}

/// A query that is kept up to date by a replica.
///
/// It does not keep the replica alive, and ends with it.
struct LiveSource<Element: Sendable>: Sendable {
    private let owner: WeakReplica
    private var registration: Registration?
    private(set) var query: LiveQuery<Element>

    init(_ replica: Replica, _ query: LiveQuery<Element>) {
        (owner, self.query) = (WeakReplica(replica: replica), query)
    }

    /// Waits for a change.
    ///
    /// - Returns: What has changed; at first all that fits. Nil at the end.
    mutating func next() async -> LiveQuery<Element>.Difference? {
        if registration == nil {
            guard let replica = owner.replica else { return nil }
            let registration = Registration(replica)
            // Before the records are read, so that no change falls between.
            await registration.open(for: query.collection)
            self.registration = registration
            return query.update(await replica.entries(of: query.collection))
        }
        while let ids = await registration?.mailbox.take(), let replica = owner.replica {
            let difference = query.update(await replica.entries(of: query.collection, ids))
            if !difference.isEmpty { return difference }
        }
        return nil
    }
}

extension Replica {
    /// The records that fit, now and whenever they have changed.
    ///
    /// - Parameters:
    ///   - type: What the collection holds.
    ///   - filters: What all records fit. Here, a field needs no index.
    ///   - order: Which comes first. Records that were created at the same millisecond are ordered by their ids.
    ///   - limit: The most records.
    /// - Returns: All records that fit, at once and after each change.
    public nonisolated func results<Fields: RecordFields>(
        _ type: Fields.Type = Fields.self,
        where filters: [RecordFilter] = [],
        order: RecordOrder = .oldestFirst,
        limit: Int? = nil
    ) -> LiveResults<Fields> {
        LiveResults(replica: self, query: LiveQuery(filters: filters, order: order, limit: limit))
    }

    /// What changes in the records that fit.
    ///
    /// - Parameters:
    ///   - type: What the collection holds.
    ///   - filters: What all records fit. Here, a field needs no index.
    /// - Returns: The changes, one after the other. The first one brings the records that fit now.
    public nonisolated func changes<Fields: RecordFields>(
        _ type: Fields.Type = Fields.self,
        where filters: [RecordFilter] = []
    ) -> LiveChanges<Fields> {
        LiveChanges(replica: self, query: LiveQuery(filters: filters, order: .oldestFirst, limit: nil))
    }

    /// The user's photos, the newest first, now and whenever they have changed.
    ///
    /// `photos` must be one of the collections.
    public nonisolated var livePhotos: LivePhotos { LivePhotos(replica: self) }
}
