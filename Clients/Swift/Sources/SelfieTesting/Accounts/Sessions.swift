import Foundation
import SelfieClient

/// A session of a user.
struct Session: Sendable {
    let id: Int
    let token: String
    let userID: String
    let device: String?
    let isRemembered: Bool
    let createdAt: Date
    var lastUsedAt: Date
    var expiresAt: Date

    func json(isCurrent: Bool) -> JSONValue {
        [
            "id": .string("\(id)"), "device": JSONValue(device), "created_at": JSONValue(createdAt),
            "last_used_at": JSONValue(lastUsedAt), "expires_at": JSONValue(expiresAt), "current": .bool(isCurrent),
        ]
    }
}

/// All sessions, with those that have expired.
struct Sessions: Sendable {
    private var byToken: [String: Session] = [:]
    private var count = 0
    private static let tokenLength = 43
    private static let day: TimeInterval = 24 * 3600
    private static let remembered: TimeInterval = 90 * day

    /// Begins a session.
    mutating func begin(_ userID: String, device: String?, isRemembered: Bool, at now: Date) -> Session {
        count += 1
        let session = Session(
            id: count,
            token: RandomText.make(Self.tokenLength),
            userID: userID,
            device: device,
            isRemembered: isRemembered,
            createdAt: now,
            lastUsedAt: now,
            expiresAt: now + (isRemembered ? Self.remembered : Self.day)
        )
        byToken[session.token] = session
        return session
    }

    /// The session of a token.
    ///
    /// - Parameters:
    ///   - authorization: The header's value, such as `Bearer …` or `Token token=…`.
    ///   - now: When it is used.
    /// - Returns: The session; if it is remembered, it lives longer now.
    /// - Throws: `ServiceRefusal` if it has ended.
    mutating func use(_ authorization: String?, at now: Date) throws(ServiceRefusal) -> Session {
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, ["bearer", "token"].contains(words[0].lowercased()) else { throw .tokenInvalid }
        let token = words[1].replacingOccurrences(of: "token=", with: "").replacingOccurrences(of: "\"", with: "")
        guard var session = byToken[token] else { throw .tokenInvalid }
        guard session.expiresAt > now else { throw .tokenExpired }
        session.lastUsedAt = now
        if session.isRemembered { session.expiresAt = now + Self.remembered }
        byToken[token] = session
        return session
    }

    /// A user's sessions that are open, the oldest first.
    func list(of userID: String, at now: Date) -> [Session] {
        byToken.values.filter { $0.userID == userID && $0.expiresAt > now }.sorted { $0.id < $1.id }
    }

    /// Ends sessions.
    ///
    /// - Returns: Their ids.
    mutating func end(where isEnding: (Session) -> Bool) -> Set<Int> {
        let ending = byToken.values.filter(isEnding)
        for session in ending { byToken[session.token] = nil }
        return Set(ending.map(\.id))
    }

    /// Lets a user's sessions expire.
    mutating func expire(_ userID: String, at now: Date) {
        for (token, session) in byToken where session.userID == userID { byToken[token]?.expiresAt = now }
    }
}
