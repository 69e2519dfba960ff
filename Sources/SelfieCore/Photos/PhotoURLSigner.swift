import Crypto
import Encodings
package import FoundationEssentials
import Synchronization

/// Signs the URLs under which photos are fetched without a header, and checks them.
///
/// A URL ends by itself. All that are made on one day (UTC) for a photo are the same, so that clients can cache it.
package struct PhotoURLSigner: Sendable {
    private let authenticator: MessageAuthenticator
    private let minLifetime: Int
    private let latest = LatestKey()
    /// Checks have one of their own: those of yesterday's URLs must not take the key of today's lists away.
    private let latestChecked = LatestKey()

    private static let secondsPerDay = 86_400
    /// Keeps signatures over other things, by the same secret, from passing as signatures over photos.
    private static let purpose = "photo-url-v2"

    /// - Parameters:
    ///   - secret: `SECRET_KEY_BASE`.
    ///   - minLifetime: For how many seconds a URL works at least: as long as a token lives, and a day.
    init(secret: String, minLifetime: Int) {
        authenticator = MessageAuthenticator(key: Array(secret.utf8))
        self.minLifetime = max(minLifetime, Self.secondsPerDay)
    }

    /// What the URLs that are made on the day of a date have in common.
    ///
    /// - Parameters:
    ///   - date: When the URLs are made.
    ///   - origin: Scheme, host and port.
    /// - Returns: What makes the URLs.
    package func day(of date: Date, origin: String) -> PhotoURLDay {
        let day = Int(date.timeIntervalSince1970) / Self.secondsPerDay
        let expires = (day + 1) * Self.secondsPerDay + minLifetime
        let authenticator = latest.authenticator(expires: expires) {
            MessageAuthenticator(key: dayKey(expires: expires))
        }
        return PhotoURLDay(origin: origin, expires: expires, authenticator: authenticator)
    }

    /// Checks a URL, in constant time.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - expires: The parameter `expires`.
    ///   - signature: The parameter `signature`.
    ///   - date: When the URL is used.
    /// - Returns: For how many more seconds it works; nil when it does not.
    package func secondsLeft(randomID: String, expires: String, signature: String, at date: Date) -> Int? {
        // Of the spellings that mean the same number or bytes, only the one that was handed out is taken.
        guard let seconds = Int(expires), String(seconds) == expires else { return nil }
        let authenticator = latestChecked.authenticator(expires: seconds) {
            MessageAuthenticator(key: dayKey(expires: seconds))
        }
        let code = Array(randomID.utf8).withUnsafeBytes { authenticator.code(of: $0) }
        let expected = code.withUnsafeBytes { Base64URL.string(of: $0) }
        guard ConstantTime.isSame(expected, signature) else { return nil }
        let left = seconds - Int(date.timeIntervalSince1970.rounded(.up))
        return left > 0 ? left : nil
    }

    /// A key of its own for each end of validity, so that a photo's signature covers no more than its id.
    private func dayKey(expires: Int) -> [UInt8] {
        let purpose = Array("\(Self.purpose)\n\(expires)".utf8)
        return purpose.withUnsafeBytes { authenticator.code(of: $0) }.withUnsafeBytes { [UInt8]($0) }
    }
}

/// Keeps what a day's key was made into, since all URLs of the day need it.
private final class LatestKey: Sendable {
    private let kept = Mutex<(expires: Int, authenticator: MessageAuthenticator)?>(nil)

    func authenticator(expires: Int, orMake make: () -> MessageAuthenticator) -> MessageAuthenticator {
        kept.withLock { kept in
            if let kept, kept.expires == expires { return kept.authenticator }
            let authenticator = make()
            kept = (expires, authenticator)
            return authenticator
        }
    }
}
