import Crypto
import FoundationEssentials

/// A sign-in that has not ended: who it is, and until when its token is good.
struct Session: Sendable {
    let id: Int
    let userID: Int
    let expiry: Date

    func isExpired(at date: Date) -> Bool {
        expiry <= date
    }

    /// Refuses an expired session with the endpoint's own text.
    func requireAlive(at date: Date, otherwise message: String) throws(ServiceError) {
        if isExpired(at: date) { throw .unauthorized(message) }
    }
}

/// A token that was just made; it is told to the client once, and only its digest is kept.
struct IssuedToken: Sendable {
    let token: String
    let expiry: Date

    /// Makes a token that lives for `lifetime` seconds, to the millisecond that clients are told.
    init(date: Date, lifetime: TimeInterval) {
        token = RandomIdentifier.makeSecret()
        let milliseconds = ((date.timeIntervalSince1970 + lifetime) * 1000).rounded(.down)
        expiry = Date(timeIntervalSince1970: milliseconds / 1000)
    }

    /// What the database keeps of a token: its SHA-256 digest, 32 bytes.
    static func digest(of token: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(token.utf8)))
    }

    /// The expiry as clients parse it.
    var expiryText: String { expiry.contractText }
}

/// A session as its user sees it.
struct DescribedSession: Sendable {
    let id: Int
    /// Nil for one that began before labels were kept, or without one.
    let device: String?
    let creation: Date
    /// To about a minute.
    let lastUse: Date
    let expiry: Date
}

extension Date {
    /// The date as clients parse it: `2026-11-21T08:06:03.123Z`.
    var contractText: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
