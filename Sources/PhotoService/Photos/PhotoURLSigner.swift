import Crypto
import Foundation

/// Signs the URLs under which photos are fetched without a header, and checks them.
///
/// A URL ends by itself. All that are made on one day (UTC) for a photo are the same, so that clients can cache it.
struct PhotoURLSigner: Sendable {
    private let key: SymmetricKey
    private let lifetimeMin: Int

    private static let secondsPerDay = 86_400
    /// Keeps signatures over other things, by the same secret, from passing as signatures over photos.
    private static let purpose = "photo-url-v1"

    /// - Parameters:
    ///   - secret: `SECRET_KEY_BASE`.
    ///   - lifetimeMin: For how many seconds a URL works at least: as long as a token lives, and a day.
    init(secret: String, lifetimeMin: Int) {
        key = SymmetricKey(data: Array(secret.utf8))
        self.lifetimeMin = max(lifetimeMin, Self.secondsPerDay)
    }

    /// The path and query of a photo's URL.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - date: When the URL is made.
    /// - Returns: `/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`.
    func target(of randomID: String, at date: Date) -> String {
        let day = Int(date.timeIntervalSince1970) / Self.secondsPerDay
        let expires = (day + 1) * Self.secondsPerDay + lifetimeMin
        let code = HMAC<SHA256>.authenticationCode(for: message(randomID, expires: expires), using: key)
        let path = randomID.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["/"])) ?? ""
        return "/photos/\(path)?expires=\(expires)&signature=\(Data(code).base64URLEncoded)"
    }

    /// Checks a URL, in constant time.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - expires: The parameter `expires`.
    ///   - signature: The parameter `signature`.
    ///   - date: When the URL is used.
    /// - Returns: For how many more seconds it works; nil when it does not.
    func secondsLeft(randomID: String, expires: String, signature: String, at date: Date) -> Int? {
        // Of the spellings that mean the same number or bytes, only the one that was handed out is taken.
        guard
            let code = Data(base64URLEncoded: signature), code.base64URLEncoded == signature,
            let seconds = Int(expires), String(seconds) == expires
        else { return nil }
        let message = message(randomID, expires: seconds)
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key) else { return nil }
        let left = seconds - Int(date.timeIntervalSince1970.rounded(.up))
        return left > 0 ? left : nil
    }

    private func message(_ randomID: String, expires: Int) -> [UInt8] {
        Array("\(Self.purpose)\n\(expires)\n\(randomID)".utf8)
    }
}

extension Data {
    /// Base64 for URLs, without padding (RFC 4648, section 5).
    fileprivate var base64URLEncoded: String {
        String(
            base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            }
        )
    }

    fileprivate init?(base64URLEncoded text: String) {
        let plain = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        self.init(base64Encoded: String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
