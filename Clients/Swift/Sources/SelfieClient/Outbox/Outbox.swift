public import Foundation

/// Uploads and changes of records that are sent as soon as possible: at once, or when there is a network again.
///
/// Items are on disk, so they survive the end of the app, however it ends. After a lost answer, an item is sent again, or the
/// service is asked whether it was done. So each upload is there once, and each record is created once.
///
/// A change without a version may be made twice: when its answer is lost, and somebody else changes the same fields before it
/// is sent again. Then it counts, and not the other one. Give a version where that matters.
///
/// Items are sent in order, uploads and changes beside each other. Changes of one record are always in order. An item
/// that is refused, or fails again and again, holds up no other. Each user has items of their own: they wait while somebody
/// else is signed in.
public actor Outbox {
    /// Whether its items can be seen and sent now.
    public enum Status: Sendable, Hashable {
        /// It is open, and sends.
        case open
        /// Nobody is signed in, so it has no items.
        case notSignedIn
        /// It can't be opened now: another `Selfie` has the same folder, or the device was not unlocked yet. It is tried again
        /// every 5 seconds.
        case unavailable(SelfieError)
    }

    private let api: APIClient
    private let folders: UserFolders
    private let disk: Disk
    private var store: OutboxStore?
    /// How often it was opened: what was begun before has no say.
    private var openings = 0
    private var queue: OutboxQueue
    private var sending: [UUID: Task<Void, Never>] = [:]
    private var timer: (date: OutboxQueue.Instant, task: Task<Void, Never>)?
    private var listeners: [UUID: AsyncStream<[OutboxItem]>.Continuation] = [:]
    private var resultListeners: [UUID: AsyncStream<OutboxResult>.Continuation] = [:]
    private var waiters: [UUID: AsyncStream<Void>.Continuation] = [:]
    private var reopening: Task<Void, Never>?
    private var lastTold = OutboxQueue.Instant.now - Outbox.tellPause
    private var telling: Task<Void, Never>?
    private static let storeAgainAfter = Duration.seconds(5)
    private static let tellPause = Duration.milliseconds(100)

    init(api: APIClient, folders: UserFolders) {
        (self.api, self.folders) = (api, folders)
        disk = Disk(beforeStep: api.configuration.beforeStep)
        queue = OutboxQueue(timing: Self.timing(api.configuration))
    }

    private static func timing(_ configuration: SelfieConfiguration) -> OutboxQueue.Timing {
        var timing = configuration.outboxTiming
        // The system wakes the app seldom, so it gets many at once.
        if (configuration.transport as? URLSessionTransport)?.sendsInBackground == true { timing.uploadsAtOnce = 50 }
        return timing
    }

    deinit {
        for task in sending.values { task.cancel() }
        for task in [timer?.task, reopening, telling] { task?.cancel() }
        for listener in listeners.values { listener.finish() }
        for listener in resultListeners.values { listener.finish() }
        for waiter in waiters.values { waiter.finish() }
    }

    /// Opens the outbox of who is signed in, or closes it.
    func openIfSignedIn() {
        do {
            try openCurrent()
        } catch SelfieError.notSignedIn {
            // It opens with the next session.
        } catch {
            api.log(.warning, "The outbox can't be opened now.", ["reason": "\(error)"])
            // Before the device was unlocked, for example, or while another process has it.
            reopening?.cancel()
            reopening = Task { [weak self] in
                guard (try? await Task.sleep(for: Self.storeAgainAfter)) != nil else { return }
                await self?.openIfSignedIn()
            }
        }
    }

    /// Opens the outbox of who is signed in, and begins to send.
    ///
    /// - Throws: ``SelfieError/notSignedIn``, or an error of the store's.
    @discardableResult
    private func openCurrent() throws -> OutboxStore {
        guard let session = try api.sessions.current() else {
            close()
            throw SelfieError.notSignedIn
        }
        if let store, store.userID == session.userID { return store }
        close()
        let folder = Self.outbox(of: folders.folder(of: session.userID))
        var queue = OutboxQueue(timing: Self.timing(api.configuration))
        let store = try OutboxStore(folder: folder, userID: session.userID, disk: disk) { queue.apply($0) }
        if store.isDamaged { api.log(.warning, "The outbox was damaged. Some items may be missing.") }
        store.putDamageAside(queue)
        store.removeFiles(without: queue)
        queue.hasBeenRead()
        (self.store, self.queue) = (store, queue)
        openings += 1
        tell()
        work()
        return store
    }

    private static func outbox(of user: URL) -> URL { user.appendingPathComponent("outbox") }

    private func close() {
        for task in sending.values { task.cancel() }
        timer?.task.cancel()
        store?.close()
        (sending, timer, store) = ([:], nil, nil)
        queue = OutboxQueue(timing: Self.timing(api.configuration))
        tell()
    }

    // MARK: Adding

    /// Adds a photo to upload.
    ///
    /// When this returns, the photo is on disk and will arrive.
    ///
    /// - Parameters:
    ///   - source: The photo. A file may be removed afterwards.
    ///   - title: At most 255 characters.
    ///   - name: The file's name.
    ///   - isListed: Whether it is in the list of photos. Others belong to records, and go with them.
    /// - Returns: The item's id, also for the `photos` of ``create(_:id:inbox:readers:writers:expiresAt:photos:after:)``.
    /// - Throws: ``SelfieError/diskFull``, ``SelfieError/outboxFull``, ``SelfieError/photoUnreadable`` or
    ///   ``SelfieError/notSignedIn``. Nothing is kept then.
    @discardableResult
    public func upload(_ source: PhotoSource, title: String, name: String = "photo", isListed: Bool = true) async throws
        -> OutboxItem.ID
    {
        let store = try openCurrent()
        let id = UUID()
        let upload = UploadFile(title: title, name: name, isListed: isListed, id: id)
        let room = api.configuration.maxOutboxBytes - queue.byteCount
        do {
            let count = try await upload.write(source, to: store.file(of: id), maxBytes: room, disk: disk)
            try add(StoredItem(id: id, createdAt: Date(), content: .upload(upload, byteCount: count)), to: store)
        } catch {
            store.removeFile(of: id)
            // The next session's outbox has removed what it did not know.
            throw store === self.store ? error : SelfieError.notSignedIn
        }
        return id
    }

    /// The data of a record's writes that the service has got since a version, or that wait.
    func writes(to path: [String], after version: Int) throws -> [JSONValue] {
        try openCurrent()
        return queue.writes(to: path, after: version)
    }

    /// Adds a change of a record.
    ///
    /// - Parameters:
    ///   - write: The change.
    ///   - photos: Fields that get the ids of photos, by their uploads.
    ///   - after: Items that must be done before.
    /// - Returns: The item's id.
    /// - Throws: ``SelfieError``; nothing is kept then.
    func add(_ write: RecordWrite, photos: [String: UUID] = [:], after: [UUID] = []) throws -> UUID {
        let store = try openCurrent()
        guard photos.values.allSatisfy({ queue.contains($0) || queue.photoID(of: $0) != nil }) else {
            throw SelfieError.dependencyDropped
        }
        let item = StoredItem(id: UUID(), createdAt: Date(), content: .write(write), after: after, photos: photos)
        try add(item, to: store)
        return item.id
    }

    private func add(_ item: StoredItem, to store: OutboxStore) throws {
        // The user may have signed out while a photo was written.
        guard store === self.store else { throw SelfieError.notSignedIn }
        guard queue.count < api.configuration.maxOutboxItems,
            queue.byteCount + item.byteCount <= api.configuration.maxOutboxBytes
        else { throw SelfieError.outboxFull }
        try record(.added(item), in: store)
        work()
    }

    private func record(_ event: OutboxEvent, in store: OutboxStore) throws {
        try store.append(event)
        queue.apply(event)
        store.compact(queue)
        tell()
    }

    // MARK: Looking

    /// Whether its items can be seen and sent now.
    public var status: Status {
        do {
            _ = try openCurrent()
            return .open
        } catch SelfieError.notSignedIn {
            return .notSignedIn
        } catch {
            return .unavailable(error as? SelfieError ?? .storage("The outbox can't be opened."))
        }
    }

    /// What waits, in its order.
    ///
    /// There are none while ``status`` is not ``Status/open``.
    public var items: [OutboxItem] {
        _ = try? openCurrent()
        return queue.items
    }

    /// What waits, now and whenever that changes.
    ///
    /// At most ten times a second. A slow reader skips what was in between.
    public var updates: AsyncStream<[OutboxItem]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [OutboxItem].self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.yield(items)
        listeners[id] = continuation
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            Task { await self.removeListener(id) }
        }
        return stream
    }

    /// What is sent from now on.
    ///
    /// A slow reader loses the oldest ones beyond ``SelfieConfiguration/maxOutboxItems``.
    public var results: AsyncStream<OutboxResult> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: OutboxResult.self,
            bufferingPolicy: .bufferingNewest(api.configuration.maxOutboxItems)
        )
        let id = UUID()
        resultListeners[id] = continuation
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            Task { await self.removeListener(id) }
        }
        return stream
    }

    private func removeListener(_ id: UUID) { (listeners[id], resultListeners[id]) = (nil, nil) }

    private func tell() {
        for waiter in waiters.values { waiter.yield() }
        guard !listeners.isEmpty, telling == nil else { return }
        let pause = OutboxQueue.Instant.now.duration(to: lastTold + Self.tellPause)
        guard pause > .zero else { return tellListeners() }
        telling = Task { [weak self] in
            try? await Task.sleep(for: pause)
            await self?.tellListeners()
        }
    }

    private func tellListeners() {
        (lastTold, telling) = (.now, nil)
        let items = queue.items
        for listener in listeners.values { listener.yield(items) }
    }

    /// Waits until all is sent, but for what was refused.
    ///
    /// - Throws: ``SelfieError/notSignedIn`` if nobody is signed in, or the session ends meanwhile;
    ///   ``SelfieError/storage(_:)`` if the outbox can't be opened; `CancellationError`.
    public func waitUntilSent() async throws {
        let store = try openCurrent()
        let id = UUID()
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        waiters[id] = continuation
        defer { waiters[id] = nil }
        continuation.yield()
        for await _ in changes {
            guard store === self.store else { throw SelfieError.notSignedIn }
            if queue.isAtRest { return }
        }
        throw CancellationError()
    }

    // MARK: Changing

    /// Sends a refused item again, behind all others.
    ///
    /// It counts from now on, also if another change of the same record was sent meanwhile.
    public func retry(_ id: OutboxItem.ID) throws {
        let store = try openCurrent()
        guard queue.isRefused(id) else { return }
        try record(.retried(id), in: store)
        work()
    }

    /// Removes an item.
    ///
    /// If it is being sent, it may arrive all the same.
    public func drop(_ id: OutboxItem.ID) throws {
        let store = try openCurrent()
        guard queue.contains(id) else { return }
        try record(.dropped(id), in: store)
        sending.removeValue(forKey: id)?.cancel()
        store.removeFile(of: id)
        work()
    }

    /// Tries at once what waits for another try, for example when the app knows that there is a network again.
    public func hurry() {
        openIfSignedIn()
        queue.hurry()
        work()
    }

    /// Removes all items of a user, of which nobody may see anything any more.
    func removeAll(of userID: String) {
        if store?.userID == userID { close() }
        remove(in: folders.folder(of: userID))
    }

    /// Removes the outboxes of deleted accounts, but for those that somebody has open.
    func removeDeleted(exceptOf userID: String?) {
        for user in folders.deleted(exceptOf: userID) {
            let outbox = Self.outbox(of: user)
            do {
                // Only a folder that is there can be locked.
                try disk.makeFolder(outbox)
                let lock = try FolderLock(outbox)
                withExtendedLifetime(lock) { remove(in: user) }
            } catch {
                api.log(.warning, "The outbox of a deleted account can't be removed now.", ["reason": "\(error)"])
            }
        }
    }

    /// If it fails, the next start tries it again.
    private func remove(in user: URL) {
        guard (try? disk.remove(Self.outbox(of: user))) != nil else { return }
        folders.removeConfirmedDeletion(in: user)
    }

    // MARK: Sending

    /// Starts what can be sent now, and sees to it that it looks again in time.
    private func work() {
        guard let store, let session = try? api.sessions.current(), session.userID == store.userID else { return }
        let now = ContinuousClock.now
        for (item, mayBeDone) in queue.start(at: now) {
            let attempt = Attempt(item, mayBeDone, session, file: store.file(of: item.id), photoIDs: photoIDs(of: item))
            // It must not keep the outbox alive.
            let tellProgress: @Sendable (UploadProgress) -> Void = { [weak self] progress in
                guard let self else { return }
                Task { await self.hasProgressed(item.id, progress) }
            }
            sending[item.id] = Task { [weak self, api, disk, openings] in
                let result = await attempt.send(api, disk, progress: tellProgress)
                await self?.hasTried(item, result, openings)
            }
            tell()
        }
        guard let date = queue.nextLook(after: now) else { return }
        look(at: date)
    }

    private func look(at date: OutboxQueue.Instant) {
        if let timer, timer.date <= date, timer.date > .now { return }
        timer?.task.cancel()
        let task = Task { [weak self] in
            guard (try? await Task.sleep(until: date, clock: .continuous)) != nil else { return }
            await self?.work()
        }
        timer = (date, task)
    }

    private func photoIDs(of item: StoredItem) -> [String: String] {
        item.photos.compactMapValues { queue.photoID(of: $0) }
    }

    private func hasTried(
        _ item: StoredItem,
        _ result: Result<(photo: Photo?, record: SentRecord?), any Error>,
        _ openings: Int
    ) {
        guard openings == self.openings, let store else { return }
        switch result {
        case .success(let answer):
            queue.hasSent(item.id, answer.record)
            finish(item, answer.photo, store)
        case .failure(let error): fail(item, error, store)
        }
        sending[item.id] = nil
        tell()
        work()
    }

    private func hasProgressed(_ id: UUID, _ progress: UploadProgress) {
        queue.hasProgressed(id, progress, at: .now)
        tell()
    }

    /// Stores that an item was sent.
    ///
    /// If that fails, it is tried again; the item is not sent twice meanwhile.
    private func finish(_ item: StoredItem, _ photo: Photo?, _ store: OutboxStore) {
        do {
            try record(.done(item.id, photoID: photo?.id), in: store)
        } catch {
            let userID = store.userID
            Task { [weak self] in
                try? await Task.sleep(for: Self.storeAgainAfter)
                await self?.finishAgain(item, photo, userID)
            }
            return
        }
        store.removeFile(of: item.id)
        for listener in resultListeners.values { listener.yield(OutboxResult(id: item.id, photo: photo)) }
    }

    private func finishAgain(_ item: StoredItem, _ photo: Photo?, _ userID: String) {
        guard let store, store.userID == userID, queue.contains(item.id) else { return }
        finish(item, photo, store)
        work()
    }

    private func fail(_ item: StoredItem, _ error: any Error, _ store: OutboxStore) {
        guard queue.contains(item.id) else { return }
        if Task.isCancelled { return queue.hasStopped(item.id) }
        // A transport of the app's own may throw what it likes.
        let error = error as? SelfieError ?? .interrupted
        switch error {
        case .notSignedIn where (try? api.sessions.current()) == nil:
            // The session's end closes the outbox.
            queue.hasStopped(item.id)
        case .notSignedIn:
            // A new password is about to bring a new session.
            queue.hasFailed(item.id, error, at: .now)
        case .notFound(let refusal) where refusal.code == "upload_deleted":
            // It was uploaded, and deleted since.
            queue.hasSent(item.id)
            finish(item, nil, store)
        case .offline, .interrupted, .notSecure, .unavailable, .tooManyRequests, .unexpectedAnswer, .appRefused:
            // None of these says that the service refuses this item: a hotel's network has a page of its own, too.
            queue.hasFailed(item.id, error, at: .now)
        default:
            do {
                try record(.refused(item.id, error), in: store)
            } catch _ {
                // The next start tries it once more.
                queue.apply(.refused(item.id, error))
            }
        }
    }
}
