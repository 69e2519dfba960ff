import Foundation

/// A copy of the records of some collections that the user can see, kept up to date by the service's feed.
///
/// It is on disk, and can be read without a network. Each page of changes is stored together with the cursor behind it, so
/// none is lost or skipped, however the app or the network ends. Only the user of the session sees it; it goes when the user
/// signs out.
public actor Replica {
    /// How a replica compares with the service.
    public enum Status: Sendable, Hashable {
        /// It is being loaded; a former copy can be read meanwhile.
        case loading
        /// It has all that the service had a moment ago.
        case current
        /// The service can't be asked now. It is asked again by itself.
        case waiting(SelfieError)
        /// The session has ended, or the replica was closed.
        case ended
    }

    /// The names of its collections; `photos` stands for the user's photos.
    public nonisolated let collections: [String]
    /// How it compares with the service.
    public private(set) var status = Status.loading

    private let api: APIClient
    private var session: Session
    private let photos: Photos
    private let log: FrameLog
    private var lock: FolderLock?
    private var copy = ReplicaCopy()
    /// What is loaded from the beginning while the former copy is still shown.
    private var reload: ReplicaCopy?
    private var mailboxes: [UUID: (collection: String, mailbox: Mailbox)] = [:]
    private var statusListeners: [UUID: AsyncStream<Status>.Continuation] = [:]
    private var following: Task<Void, Never>?
    /// Collections that the user can't see now, such as those of a role that was lost, and when to look again.
    private var hidden: (collections: Set<String>, until: ContinuousClock.Instant) = ([], .now)
    /// What has expired by the device's clock, and is hidden until the service removes it.
    private var expired: Set<ReplicaKey> = []
    private var expiring: (date: Date, task: Task<Void, Never>)?
    private static let pageSize = 500
    private static let waitSeconds = 25
    private static let nothingVisible = SelfieError.notFound(
        .init(status: 404, code: "collection_not_found", message: "The user sees none of the collections.")
    )
    private static let hiddenFor = Duration.seconds(30)
    /// When to look again whether the clock was set.
    private static let clockInterval: TimeInterval = 60

    /// - Throws: ``SelfieError/storage(_:)`` if another replica of the same collections is open.
    init(api: APIClient, session: Session, photos: Photos, folder: URL, collections: [String]) throws {
        (self.api, self.session, self.photos, self.collections) = (api, session, photos, collections)
        try Disk().makeFolder(folder)
        lock = try FolderLock(folder)
        var copy = ReplicaCopy()
        var isWhole = true
        // A page counts only if all before it were read. What is behind it is loaded again, from its cursor on.
        log = try FrameLog(file: folder.appendingPathComponent("changes"), disk: Disk(), endsAtDamage: true) { frame in
            if isWhole, let page = try? JSONCoding.decode(ChangePage.self, from: frame) {
                copy.apply(page)
            } else {
                // It is another version's.
                isWhole = false
            }
        }
        if !isWhole { try log.rewrite(copy.pages(of: Self.pageSize).map(JSONCoding.encode)) }
        self.copy = copy
        // A part of a copy has no cursor. It is shown until a whole one is there, which also lacks what has gone meanwhile.
        if copy.cursor == nil, !copy.isEmpty { reload = ReplicaCopy() }
    }

    deinit {
        following?.cancel()
        expiring?.task.cancel()
        for (_, mailbox) in mailboxes.values { mailbox.finish() }
        for listener in statusListeners.values { listener.finish() }
    }

    /// Begins to follow the service.
    func follow() {
        guard following == nil else { return }
        expire()
        following = Task { [weak self] in
            var failures = 0
            while let pause = await self?.step(&failures) {
                if pause > .zero { try? await Task.sleep(for: pause) }
                if Task.isCancelled { return }
            }
        }
    }

    /// Stops following, and ends all sequences of results and changes.
    ///
    /// It has no records then, and can be opened again.
    public func close() {
        following?.cancel()
        expiring?.task.cancel()
        set(.ended)
        for (_, mailbox) in mailboxes.values { mailbox.finish() }
        for listener in statusListeners.values { listener.finish() }
        (mailboxes, statusListeners) = ([:], [:])
        (copy, reload, lock, expired) = (ReplicaCopy(), nil, nil, [])
    }

    // MARK: Following

    /// Asks for one page.
    ///
    /// - Returns: How long to wait before the next; nil at the end.
    private func step(_ failures: inout Int) async -> Duration? {
        guard status != .ended else { return nil }
        do {
            try await loadPage()
            failures = 0
            return .zero
        } catch is CancellationError {
            return nil
        } catch let error as SelfieError {
            if case .cursorEnded = error {
                // The former copy is shown until the new one is whole.
                (reload, hidden.collections) = (ReplicaCopy(), [])
                set(.loading)
                return .zero
            }
            if case .notFound(let refusal) = error, refusal.code == "collection_not_found",
                hidden.collections.count < collections.count, (try? await hideCollections()) == true
            {
                return .zero
            }
            if error == .notSignedIn {
                guard let present = try? api.sessions.current(), present.userID == session.userID else {
                    close()
                    return nil
                }
                // A new password has brought a new session, or is about to.
                let isNew = present != session
                session = present
                return isNew ? .zero : .milliseconds(500)
            }
            failures += 1
            set(.waiting(error))
            return max(error.retryAfter ?? .zero, Backoff.pause(after: failures, limit: .seconds(30)))
        } catch {
            failures += 1
            set(.waiting(.storage("The copy of records can't be kept.")))
            return Backoff.pause(after: failures, limit: .seconds(30))
        }
    }

    /// Finds the collections that the user can't see.
    ///
    /// The cursor was for all of them, so the service ends it.
    ///
    /// - Returns: Whether others are left.
    private func hideCollections() async throws -> Bool {
        var found: Set<String> = []
        for collection in collections where try await !isVisible(collection) { found.insert(collection) }
        // The file may be another replica's by now.
        guard status != .ended else { throw CancellationError() }
        hidden = (found, .now + Self.hiddenFor)
        guard found.count == collections.count else { return true }
        // Nothing is left to be seen.
        try replace(by: ReplicaCopy())
        return false
    }

    private func isVisible(_ collection: String) async throws -> Bool {
        if collection == "photos" { return true }
        var call = Call("GET", api.url(["records", collection], query: ["limit": "1"]))
        (call.authentication, call.isTriedOnce) = (.session(session), true)
        do {
            try await api.send(call)
            return true
        } catch SelfieError.notFound {
            return false
        }
    }

    private func lookForHidden() async throws {
        guard !hidden.collections.isEmpty, hidden.until <= .now else { return }
        var left = hidden.collections
        for collection in left where try await isVisible(collection) { left.remove(collection) }
        hidden = (left, .now + Self.hiddenFor)
    }

    private func loadPage() async throws {
        try await lookForHidden()
        let visible = collections.filter { !hidden.collections.contains($0) }
        guard !visible.isEmpty else { throw Self.nothingVisible }
        let waits = status == .current
        var call = Call(
            "GET",
            api.url(
                ["changes"],
                query: [
                    "since": (reload ?? copy).cursor, "collections": visible.joined(separator: ","),
                    "limit": "\(Self.pageSize)", "wait": waits ? "\(Self.waitSeconds)" : nil,
                ]
            )
        )
        (call.authentication, call.isTriedOnce) = (.session(session), true)
        if waits { call.timeout = .seconds(Self.waitSeconds) + api.configuration.timeout }
        let response = try await api.send(call)
        let page = try api.decode(ChangePage.self, from: response)
        guard status != .ended else { throw CancellationError() }
        if var next = reload {
            next.apply(page)
            reload = next
            if !page.more { try replace(by: next) }
        } else if !page.changes.isEmpty || page.cursor != copy.cursor {
            try log.append(response.body, isDurable: false)
            let keys = page.changes.map { ReplicaKey(collection: $0.collection, id: $0.id) }
            let photosBefore = copy.photoIDs(of: keys)
            copy.apply(page)
            tell(keys, photosBefore: photosBefore)
            try compactIfWorthwhile()
        }
        // The clock may have been set.
        if expiring != nil { expire() }
        set(page.more ? .loading : .current)
    }

    /// Takes a whole new copy in one step.
    private func replace(by next: ReplicaCopy) throws {
        try log.rewrite(next.pages(of: Self.pageSize).map(JSONCoding.encode))
        let keys = copy.keys(differingFrom: next)
        let photosBefore = copy.photoIDs(of: keys)
        (copy, reload) = (next, nil)
        tell(keys, photosBefore: photosBefore)
    }

    private func compactIfWorthwhile() throws {
        guard log.byteCount > 1 << 20, log.byteCount > 3 * copy.byteCount else { return }
        try log.rewrite(copy.pages(of: Self.pageSize).map(JSONCoding.encode))
    }

    private func set(_ status: Status) {
        guard status != self.status, self.status != .ended else { return }
        self.status = status
        for listener in statusListeners.values { listener.yield(status) }
    }

    /// Tells all live queries which records have changed, and removes pictures that no record has any more.
    private func tell(_ keys: [ReplicaKey], photosBefore: Set<String>) {
        tellQueries(keys)
        removePictures(photosBefore.filter { !copy.hasPhoto($0) })
        scheduleExpiry(keys.compactMap { copy.entry($0)?.expiresAt }.min())
    }

    private func tellQueries(_ keys: some Sequence<ReplicaKey>) {
        for (collection, ids) in Dictionary(grouping: keys, by: \.collection).mapValues({ Set($0.map(\.id)) }) {
            for (_, mailbox) in mailboxes.values.filter({ $0.collection == collection }) { mailbox.put(ids) }
        }
    }

    private func removePictures(_ ids: Set<String>) {
        guard !ids.isEmpty else { return }
        let photos = photos
        Task { for id in ids { await photos.removePictures(of: id) } }
    }

    /// Hides what has expired: the service says so within a minute, and a device without a network never hears it.
    ///
    /// The service removes it. So it is shown again if the clock was ahead, and is set.
    private func expire() {
        let now = api.configuration.now()
        let before = expired
        expired = Set(copy.expired(at: now))
        expiring?.task.cancel()
        expiring = nil
        tellQueries(expired.symmetricDifference(before))
        let new = expired.subtracting(before)
        if !new.isEmpty {
            removePictures(copy.photoIDs(of: new).intersection(copy.photoIDs(onlyOf: expired)))
        }
        let nextLook = expired.isEmpty ? nil : now + Self.clockInterval
        scheduleExpiry([copy.nextExpiry(after: now), nextLook].compactMap { $0 }.min())
    }

    private func scheduleExpiry(_ date: Date?) {
        guard status != .ended, let date, expiring.map({ date < $0.date }) ?? true else { return }
        expiring?.task.cancel()
        let now = api.configuration.now()
        let task = Task { [weak self] in
            // Rather a moment too late than one too early. A clock that was set is looked at again within the hour.
            let pause = min(max(date.timeIntervalSince(now), 0) + 0.01, 3600)
            guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
            await self?.expire()
        }
        expiring = (date, task)
    }

    // MARK: Reading

    /// How it compares with the service, now and from now on.
    ///
    /// It ends when the replica is closed or released.
    public var statuses: AsyncStream<Status> {
        let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.yield(status)
        guard status != .ended else {
            continuation.finish()
            return stream
        }
        statusListeners[id] = continuation
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            Task { await self.removeStatusListener(id) }
        }
        return stream
    }

    private func removeStatusListener(_ id: UUID) { statusListeners[id] = nil }

    /// Waits until it has all that the service had a moment ago.
    ///
    /// - Throws: ``SelfieError/notSignedIn`` if it has ended, or `CancellationError`.
    public func waitUntilCurrent() async throws {
        for await status in statuses where status == .current { return }
        try Task.checkCancellation()
        throw SelfieError.notSignedIn
    }

    /// The records that fit, as they are on the device now.
    ///
    /// - Parameters:
    ///   - type: What the collection holds.
    ///   - filters: What all records fit. Here, a field needs no index.
    ///   - order: Which comes first.
    ///   - limit: The most records.
    /// - Returns: The records in that order.
    public func records<Fields: RecordFields>(
        _ type: Fields.Type = Fields.self,
        where filters: [RecordFilter] = [],
        order: RecordOrder = .oldestFirst,
        limit: Int? = nil
    ) -> [Record<Fields>] {
        var query = LiveQuery<Record<Fields>>(filters: filters, order: order, limit: limit)
        query.update(entries(of: Fields.collection))
        return query.results
    }

    /// One record, as it is on the device now.
    public func record<Fields: RecordFields>(_ id: String, _: Fields.Type = Fields.self) -> Record<Fields>? {
        shown(ReplicaKey(collection: Fields.collection, id: id))?.record()
    }

    /// The user's photos, the newest first, as they are on the device now.
    ///
    /// `photos` must be one of the collections.
    public func ownPhotos() -> [Photo] {
        var query = LiveQuery<Photo>.photos
        query.update(entries(of: query.collection))
        return query.results
    }

    /// All entries of a collection.
    func entries(of collection: String) -> [String: ReplicaEntry?] {
        let now = api.configuration.now()
        return copy.entries(of: collection).filter { !$0.value.hasExpired(at: now) }.mapValues { $0 }
    }

    /// Some entries of a collection; nil for those that are not there.
    func entries(of collection: String, _ ids: Set<String>) -> [String: ReplicaEntry?] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, shown(ReplicaKey(collection: collection, id: $0))) })
    }

    /// An entry that has not expired by the device's clock.
    private func shown(_ key: ReplicaKey) -> ReplicaEntry? {
        copy.entry(key).flatMap { $0.hasExpired(at: api.configuration.now()) ? nil : $0 }
    }

    /// Registers who wants to know of a collection's changes.
    func open(_ mailbox: Mailbox, for collection: String) -> UUID {
        let id = UUID()
        if status == .ended { mailbox.finish() } else { mailboxes[id] = (collection, mailbox) }
        return id
    }

    func closeMailbox(_ id: UUID) { mailboxes[id] = nil }
}
