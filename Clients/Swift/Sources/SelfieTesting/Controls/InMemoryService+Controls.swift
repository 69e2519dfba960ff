public import Foundation
public import SelfieClient

extension InMemoryService {
    // MARK: The network

    /// Whether there is no network.
    ///
    /// Calls that wait for an answer then are interrupted.
    public var isOffline: Bool {
        get { disturbances.withLock { $0.isOffline } }
        set {
            disturbances.withLock { $0.isOffline = newValue }
            bell.ring()
        }
    }

    /// Loses the answer to the next call: the service does the work, and the client finds the connection interrupted.
    ///
    /// Further calls of this function are for the calls behind it.
    ///
    /// - Parameter path: The beginning of the path behind `/api/`, such as `records/notes`; nil for any call.
    public func loseNextAnswer(to path: String? = nil) {
        disturbances.withLock { $0.plan(.loss, of: path) }
    }

    /// Refuses the next call without doing anything.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, such as 503.
    ///   - code: The refusal's code, such as `service_unavailable`.
    ///   - message: The refusal's message.
    ///   - retryAfter: The seconds in `Retry-After`; nil without it.
    ///   - path: The beginning of the path behind `/api/`, such as `records/notes`; nil for any call.
    public func refuseNext(
        with status: Int,
        code: String,
        message: String = "Refused",
        retryAfter: Int? = nil,
        to path: String? = nil
    ) {
        let headers = retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
        let refusal = ServiceAnswer.refusal(
            ServiceRefusal(status: status, code: code, message: message),
            headers: headers
        )
        disturbances.withLock { $0.plan(.refusal(refusal.response), of: path) }
    }

    /// Refuses the next calls with 429, without doing anything, as the service does when its rate limit is reached.
    ///
    /// - Parameters:
    ///   - count: How many calls.
    ///   - retryAfter: The seconds in `Retry-After`.
    ///   - path: The beginning of the path behind `/api/`, such as `records/notes`; nil for any call.
    public func limitRate(ofNext count: Int = 1, retryAfter: Int, to path: String? = nil) {
        let message = "Too many requests. Please try again later!"
        for _ in 0..<count {
            refuseNext(with: 429, code: "too_many_requests", message: message, retryAfter: retryAfter, to: path)
        }
    }

    /// The calls so far, in the order in which they were answered.
    public var receivedCalls: [ServiceCall] { calls.withLock { $0 } }

    // MARK: Sessions, URLs and cursors

    /// Ends all sessions of a user, as from another device.
    ///
    /// - Parameter userID: The member's id.
    public func endSessions(of userID: String) {
        change { $0.endSessions { $0.userID == userID } }
        bell.ring()
    }

    /// Lets all sessions of a user expire.
    ///
    /// - Parameter userID: The member's id.
    public func expireSessions(of userID: String) {
        change { $0.sessions.expire(userID, at: $0.now) }
        bell.ring()
    }

    /// Ends all URLs of photos, as time does.
    public func endPhotoURLs() { change { $0.photoURLs.endAll() } }

    /// Ends all cursors of the feed, as a restored database does.
    public func endCursors() {
        change { $0.cursorEpoch += 1 }
        bell.ring()
    }

    // MARK: The operator's part

    /// Gives a user a role, as the operator does.
    ///
    /// - Parameters:
    ///   - userID: The member's id.
    ///   - role: Its name in the schema.
    public func add(_ userID: Member.ID, toRole role: String) {
        change { $0.add(userID, toRole: role) }
        bell.ring()
    }

    /// Takes a role from a user.
    ///
    /// All cursors of the user end.
    ///
    /// - Parameters:
    ///   - userID: The member's id.
    ///   - role: Its name in the schema.
    public func remove(_ userID: Member.ID, fromRole role: String) {
        change { $0.remove(userID, fromRole: role) }
        bell.ring()
    }

    // MARK: What is there

    /// The newest code that was sent to an address, and not used.
    ///
    /// - Parameter email: The address, in any case.
    /// - Returns: Six digits; nil if there is none.
    public func code(sentTo email: String) -> String? { change { $0.codes.newest(sentTo: email) } }

    /// The bytes of a photo, as they were uploaded; nil if there is none.
    public func bytes(of photo: Photo.ID) -> Data? { change { $0.photos[photo]?.bytes } }

    /// A user's devices, whoever is signed in.
    ///
    /// - Parameter userID: The member's id.
    /// - Returns: The devices, the oldest first; none of them is current.
    public func devices(of userID: Member.ID) -> [Device] {
        change { state in
            state.devices.list(of: userID).compactMap { device in
                try? JSONCoding.decode(Device.self, from: JSONCoding.encode(device.json(currentSession: nil)))
            }
        }
    }
}
