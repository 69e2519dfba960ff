public import Foundation

/// One of a user's sessions.
public struct SessionInfo: Sendable, Hashable, Identifiable, Decodable {
    public let id: String
    /// The name of the device.
    public let device: String?
    public let createdAt: Date
    public let lastUsedAt: Date?
    public let expiresAt: Date?
    /// Whether it is the session of this client.
    public let isCurrent: Bool

    private enum CodingKeys: String, CodingKey {
        case id, device
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
        case expiresAt = "expires_at"
        case isCurrent = "current"
    }
}

extension Selfie {
    /// The user's sessions.
    public func sessions() async throws -> [SessionInfo] {
        try await api.send(Call("GET", api.url(["sessions"])))
    }

    /// Ends one of the user's sessions.
    ///
    /// - Throws: ``SelfieError/notFound(_:)`` if it has ended already.
    public func endSession(_ id: SessionInfo.ID) async throws {
        try await api.send(Call("DELETE", api.url(["sessions", id])))
    }

    /// Signs the user out, and removes the client's copies of photos and records.
    ///
    /// It works without a network, too, and waits 5 seconds for an answer. Without one, the service knows the session until it
    /// expires. What waits in the outbox stays for the user's next session.
    ///
    /// - Parameter everywhere: Whether to end all sessions of the user. That needs the network.
    /// - Throws: With `everywhere` alone, when the service could not be asked. Then nothing has changed.
    public func signOut(everywhere: Bool = false) async throws {
        guard let session = try api.sessions.current() else { return }
        var call = Call("DELETE", api.url(["clear_token"], query: ["all": everywhere ? "true" : nil]))
        call.authentication = .session(session)
        if everywhere {
            try await api.send(call)
        } else {
            // Who signs out does not wait for a network that is silent.
            (call.isTriedOnce, call.timeout) = (true, .seconds(5))
            _ = try? await api.send(call)
        }
        await end(session)
    }

    /// Ends a session in this client, and waits until what was kept for it is removed.
    func end(_ session: Session) async {
        api.sessions.end(session, .signedOut)
        await sessionFollower.catchUp()
    }
}
