import Crypto
import Encodings
package import FoundationEssentials

/// A sign-in that has not ended: who it is, and until when its token is good.
package struct Session: Sendable {
    package let id: Int
    package let userID: Int
    let expiry: Date

    package func isExpired(at date: Date) -> Bool {
        expiry <= date
    }
}

/// Why a token is of no use.
package enum SessionError: Error {
    /// It names no session, or one that ended meanwhile.
    case ended
}

/// A token that was just made; it is told to the client once, and only its digest is kept.
package struct IssuedToken: Sendable {
    package let token: String
    package let expiry: Date

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
}

/// A session as its user sees it.
package struct DescribedSession: Sendable {
    package let id: Int
    /// Nil for one that began before labels were kept, or without one.
    package let device: String?
    package let creation: Date
    /// To about a minute.
    package let lastUse: Date
    package let expiry: Date
}
