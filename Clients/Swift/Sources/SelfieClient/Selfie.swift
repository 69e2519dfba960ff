public import Foundation

/// A client of a Selfie service, for one user at a time.
///
/// Make one for the app and keep it. All calls may be made from any task. They throw ``SelfieError``, or
/// `CancellationError` when their task was cancelled.
public final class Selfie: Sendable {
    let api: APIClient
    /// What waits to be sent, also while there is no network.
    public let outbox: Outbox
    /// The user's photos, and pictures of all kinds.
    public let photos: Photos
    let replicas: Replicas
    #if canImport(Network)
        private let networkObserver: NetworkObserver
    #endif

    /// - Parameters:
    ///   - url: The service, such as `https://selfies.example.com`.
    ///   - apiCredential: The app's credential.
    ///   - configuration: What else the app sets; the usual places by default.
    public init(url: URL, apiCredential: APICredential, configuration: SelfieConfiguration? = nil) {
        let configuration = configuration ?? .standard(for: url)
        api = APIClient(url: url, credential: apiCredential, configuration: configuration)
        let users = UserFolders(folder: configuration.folder)
        photos = Photos(api: api, folders: users)
        replicas = Replicas(api: api, folders: users, photos: photos)
        outbox = Outbox(api: api, folders: users)
        #if canImport(Network)
            networkObserver = NetworkObserver { [weak outbox] in await outbox?.hurry() }
        #endif
        let events = api.sessions.events
        // It must keep nothing alive: the events end with the session's state, which all of these have.
        Task { [weak api, weak outbox, weak photos, weak replicas] in
            await outbox?.openIfSignedIn()
            for await event in events {
                await outbox?.openIfSignedIn()
                // Who ends a session on another device may have lost this one.
                guard case .ended(let userID, let reason) = event, reason == .revoked || reason == .replaced,
                    (try? api?.sessions.current()?.userID) != userID
                else { continue }
                await photos?.removeCopies(of: userID)
                await replicas?.removeCopies(of: userID)
            }
        }
    }

    /// The member's id of who is signed in; nil if nobody is.
    ///
    /// - Throws: ``SelfieError/storage(_:)`` if the token store can't be read now, such as before the device was unlocked.
    public var userID: String? {
        get throws { try api.sessions.current()?.userID }
    }

    /// Begins and ends of sessions from now on.
    ///
    /// A session ends once, however many calls find that it has ended.
    public var sessionEvents: AsyncStream<SessionEvent> { api.sessions.events }
}

extension Selfie: CustomStringConvertible, CustomReflectable {
    public var description: String { "Selfie at \(api.url.host ?? "an unknown host")" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
