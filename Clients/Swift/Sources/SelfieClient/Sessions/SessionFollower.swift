import Foundation

/// Keeps what the device has in step with sessions, then tells the app of them.
///
/// When a session begins, its user's outbox is opened. When one ends, the user's copies of photos and records are removed.
/// So an app that is told of an end finds nothing any more.
final class SessionFollower: Sendable {
    /// How many events were handled, and who waits until more of them are.
    private struct Progress {
        var handled = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// What the app hears.
    let listeners = SessionListeners()
    private let api: APIClient
    private let outbox: Outbox
    private let photos: Photos
    private let replicas: Replicas
    private let progress = Locked(Progress())

    init(api: APIClient, outbox: Outbox, photos: Photos, replicas: Replicas) {
        (self.api, self.outbox, self.photos, self.replicas) = (api, outbox, photos, replicas)
    }

    /// Begins to follow.
    ///
    /// Nothing is kept alive by it: the events end with the session's state.
    func follow() {
        let events = api.sessions.events
        Task { [weak self] in
            await self?.removeOthers()
            await self?.outbox.openIfSignedIn()
            for await event in events { await self?.handle(event) }
        }
    }

    private func handle(_ event: SessionEvent) async {
        await outbox.openIfSignedIn()
        if case .ended(let userID, _) = event, (try? api.sessions.current()?.userID) != userID {
            await photos.removeCopies(of: userID)
            await replicas.removeCopies(of: userID)
            await outbox.removeDeleted(exceptOf: try? api.sessions.current()?.userID)
        }
        listeners.tell(event)
        let ready = progress.withLock { progress in
            progress.handled += 1
            let ready = progress.waiting.filter { $0.count <= progress.handled }
            progress.waiting.removeAll { $0.count <= progress.handled }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Waits until all that has happened to sessions so far was handled.
    func catchUp() async {
        let count = api.sessions.eventCount
        await withCheckedContinuation { continuation in
            let isReady = progress.withLock { progress in
                if progress.handled < count { progress.waiting.append((count, continuation)) }
                return progress.handled >= count
            }
            if isReady { continuation.resume() }
        }
    }

    /// Removes copies of all users but the one who is signed in, and outboxes of deleted accounts.
    ///
    /// The app may have ended before it was done.
    private func removeOthers() async {
        let userID: String?
        do {
            userID = try api.sessions.current()?.userID
        } catch {
            // It is not known whose they are.
            return
        }
        await photos.removeCopies(exceptOf: userID)
        await replicas.removeCopies(exceptOf: userID)
        await outbox.removeDeleted(exceptOf: userID)
    }
}
