import Cryptography
import Encodings
import FoundationEssentials
import SelfieRecords
import Synchronization

/// Signs the URLs of photos, and checks them.
///
/// A URL expires a day after the end of the day (UTC) on which it was made. So it works for 24 to 48 hours. All URLs of
/// a photo of one day are the same, so that clients can cache the photo. Each user has a series of URLs; a new series ends
/// those of the others.
struct PhotoURLSigner: Sendable {
    private let authenticator: HMACSHA256
    private let latest = LatestKey()
    /// Checks have a key of their own, so that checks of yesterday's URLs do not replace the key of today's lists.
    private let latestChecked = LatestKey()

    private static let secondsPerDay = 86_400
    /// How long a URL works at most.
    private static let maxLifeSeconds = 2 * secondsPerDay
    /// Separates signatures of photos from others with the same secret.
    private static let purpose = "photo-url-v2"

    /// - Parameter secret: `SECRET_KEY_BASE`.
    init(secret: String) {
        authenticator = HMACSHA256(key: Array(secret.utf8))
    }

    /// Makes the URLs of the day of a date.
    func day(of date: Date, origin: String, series: Int) -> PhotoURLDay {
        let day = Int(date.timeIntervalSince1970) / Self.secondsPerDay
        let expires = (day + 2) * Self.secondsPerDay
        let authenticator = latest.authenticator(expires: expires) {
            HMACSHA256(key: dayKey(expires: expires))
        }
        return PhotoURLDay(origin: origin, expires: expires, series: series, authenticator: authenticator)
    }

    /// A URL with a right signature.
    struct CheckedURL: Equatable {
        /// How many more seconds it works.
        let secondsLeft: Int
        /// The series that it belongs to.
        ///
        /// It works only if that is the user's present one.
        let series: Int
        /// Its scope; nil for its owner.
        let scope: PhotoScope?
    }

    /// Checks the parameters of a URL in constant time; nil when it does not work.
    func check(
        randomID: String,
        expires: String,
        series: String?,
        scope: String? = nil,
        signature: String,
        at date: Date
    ) -> CheckedURL? {
        let named = scope.flatMap { PhotoScope($0) }
        if scope != nil, named == nil { return nil }
        // Only the issued spelling is accepted, not others of the same number or bytes.
        guard let end = Self.number(expires), let series = Self.number(series ?? "0"), !randomID.utf8.contains(0) else {
            return nil
        }
        let authenticator = latestChecked.authenticator(expires: end) {
            HMACSHA256(key: dayKey(expires: end))
        }
        let signed = Array(randomID.utf8) + PhotoURLDay.signedText(ofSeries: series, for: named)
        let code = signed.withUnsafeBytes { authenticator.code(of: $0) }
        let expected = code.withUnsafeBytes { Base64URL.string(of: $0) }
        guard ConstantTime.isSame(expected.utf8, signature.utf8) else { return nil }
        let left = end - Int(date.timeIntervalSince1970.rounded(.up))
        // Versions before 0.11 made some that live as long as a token.
        return (1...Self.maxLifeSeconds).contains(left)
            ? CheckedURL(secondsLeft: left, series: series, scope: named) : nil
    }

    private static func number(_ text: String) -> Int? {
        Int(text).flatMap { String($0) == text ? $0 : nil }
    }

    /// Each end of validity has its own key, so a signature need only cover the photo's id.
    private func dayKey(expires: Int) -> [UInt8] {
        let purpose = Array("\(Self.purpose)\n\(expires)".utf8)
        return purpose.withUnsafeBytes { authenticator.code(of: $0) }.withUnsafeBytes { [UInt8]($0) }
    }
}

/// Caches the prepared key of a day, which all URLs of the day need.
private final class LatestKey: Sendable {
    private let latest = Mutex<(expires: Int, authenticator: HMACSHA256)?>(nil)

    func authenticator(expires: Int, orMake make: () -> HMACSHA256) -> HMACSHA256 {
        latest.withLock { latest in
            if let latest, latest.expires == expires { return latest.authenticator }
            let authenticator = make()
            latest = (expires, authenticator)
            return authenticator
        }
    }
}
