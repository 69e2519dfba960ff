import Crypto
package import Encodings
package import FoundationEssentials
import Secrets

/// A sign-in that has not ended, with its user and the end of its token.
package struct Session: Sendable {
    package let id: Int
    /// The id of its user that other members see.
    package let memberID: String
    /// The summary of the user's photos.
    package let library: PhotoLibrary
    let expiry: Date
    /// After how many days without use it ends; nil for one with a fixed end.
    let maxUnusedDays: Int?

    package var userID: Int { library.userID }
    /// The user, for URLs of others' photos.
    package var photoReader: PhotoReader { PhotoReader(memberID: memberID, urlSeries: library.urlSeries) }

    package func isExpired(at date: Date) -> Bool {
        expiry <= date
    }
}

/// A new token.
///
/// The client gets it once, and only its digest is stored.
package struct IssuedToken: Sendable {
    package let token: String
    /// When it ends, if it is not used before.
    package let expiry: Date
    /// After how many days without use its session ends; nil for one with a fixed end.
    let maxUnusedDays: Int?

    /// Makes a token.
    ///
    /// Its end is rounded to milliseconds, as clients see it.
    init(date: Date, lifetime: SessionLifetime) {
        token = RandomIdentifier.makeSecret()
        maxUnusedDays = lifetime.maxUnusedDays
        let milliseconds = ((date.timeIntervalSince1970 + lifetime.seconds) * 1000).rounded(.down)
        expiry = Date(timeIntervalSince1970: milliseconds / 1000)
    }

    /// The form of a token in the database: its SHA-256 digest, 32 bytes.
    static func digest(of token: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(token.utf8)))
    }
}

/// A session as its user and administrators see it.
package struct DescribedSession: Sendable, Encodable {
    package let id: Int
    /// Nil for a session without a label, or from before there were labels.
    @Nullable package var device: String?
    package let createdAt: Date
    /// Exact to about a minute.
    package let lastUsedAt: Date
    package let expiresAt: Date
}
