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
    let sessionFollower: SessionFollower
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
        photos = Photos(api: api, folders: api.folders)
        replicas = Replicas(api: api, folders: api.folders, photos: photos)
        outbox = Outbox(api: api, folders: api.folders)
        #if canImport(Network)
            networkObserver = NetworkObserver { [weak outbox] in await outbox?.hurry() }
        #endif
        sessionFollower = SessionFollower(api: api, outbox: outbox, photos: photos, replicas: replicas)
        sessionFollower.follow()
    }

    /// The member's id of who is signed in; nil if nobody is.
    ///
    /// - Throws: ``SelfieError/storage(_:)`` if the token store can't be read now, such as before the device was unlocked.
    public var userID: String? {
        get throws { try api.sessions.current()?.userID }
    }

    /// Begins and ends of sessions from now on.
    ///
    /// A session ends once, however many calls find that it has ended. When the app hears of it, the user's copies of photos
    /// and records are removed already.
    public var sessionEvents: AsyncStream<SessionEvent> {
        sessionFollower.listeners.events(limit: .bufferingNewest(64))
    }
}

extension Selfie: CustomStringConvertible, CustomReflectable {
    public var description: String { "Selfie at \(api.url.host ?? "an unknown host")" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
