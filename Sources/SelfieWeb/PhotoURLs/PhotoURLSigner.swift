import Crypto
import Encodings
import FoundationEssentials
import Synchronization

/// Signs the URLs of photos, and checks them.
///
/// A URL ends by itself. All URLs of a photo of one day (UTC) are the same, so that clients can cache the photo.
struct PhotoURLSigner: Sendable {
    private let authenticator: MessageAuthenticator
    private let minLifetime: Int
    private let latest = LatestKey()
    /// Checks have a key of their own, so that checks of yesterday's URLs do not replace the key of today's lists.
    private let latestChecked = LatestKey()

    private static let secondsPerDay = 86_400
    /// Separates signatures of photos from others with the same secret.
    private static let purpose = "photo-url-v2"

    /// - Parameters:
    ///   - secret: `SECRET_KEY_BASE`.
    ///   - minLifetime: The least number of seconds that a URL works: a token's lifetime and a day.
    init(secret: String, minLifetime: Int) {
        authenticator = MessageAuthenticator(key: Array(secret.utf8))
        self.minLifetime = max(minLifetime, Self.secondsPerDay)
    }

    /// Makes the URLs of the day of a date.
    ///
    /// - Parameters:
    ///   - date: When the URLs are made.
    ///   - origin: Scheme, host and port.
    /// - Returns: The maker of that day's URLs.
    func day(of date: Date, origin: String) -> PhotoURLDay {
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
    /// - Returns: How many more seconds it works; nil when it does not.
    func secondsLeft(randomID: String, expires: String, signature: String, at date: Date) -> Int? {
        // Only the spelling that was handed out is accepted, not others of the same number or bytes.
        guard let seconds = Int(expires), String(seconds) == expires else { return nil }
        let authenticator = latestChecked.authenticator(expires: seconds) {
            MessageAuthenticator(key: dayKey(expires: seconds))
        }
        let code = Array(randomID.utf8).withUnsafeBytes { authenticator.code(of: $0) }
        let expected = code.withUnsafeBytes { Base64URL.string(of: $0) }
        guard ConstantTime.isSame(expected.utf8, signature.utf8) else { return nil }
        let left = seconds - Int(date.timeIntervalSince1970.rounded(.up))
        return left > 0 ? left : nil
    }

    /// Each end of validity has its own key, so a signature need only cover the photo's id.
    private func dayKey(expires: Int) -> [UInt8] {
        let purpose = Array("\(Self.purpose)\n\(expires)".utf8)
        return purpose.withUnsafeBytes { authenticator.code(of: $0) }.withUnsafeBytes { [UInt8]($0) }
    }
}

/// Keeps the prepared key of a day, which all URLs of the day need.
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
