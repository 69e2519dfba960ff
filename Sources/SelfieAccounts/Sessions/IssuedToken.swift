import Cryptography
package import FoundationEssentials

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
        Array(SHA256.hash(Array(token.utf8)))
    }
}
