import Cryptography
import Encodings
import SelfieRecords

/// The URLs of photos that are made on one day, for clients of one origin.
struct PhotoURLDay {
    /// The path of a photo, up to its id.
    static let path = "/photos/"
    static let expiresName = "expires"
    static let seriesName = "series"
    static let scopeName = "for"
    static let signatureName = "signature"

    /// Scheme, host and port.
    let origin: String
    /// The end of the URLs, in seconds since 1970.
    let expires: Int
    /// The number of the user's present series of URLs.
    let series: Int
    /// Makes the signatures for that end.
    let authenticator: HMACSHA256
    /// The scope of the URLs; nil for the photo's owner.
    var scope: PhotoScope?

    /// The text that is signed after a photo's id, which contains no NUL.
    ///
    /// It is nothing for the first series without a scope, so that URLs of versions before 0.11 still work.
    static func signedText(ofSeries series: Int, for scope: PhotoScope?) -> [UInt8] {
        Array((series == 0 ? "" : "\0\(series)").utf8) + Array(scope.map { "\0for\0\($0.text)" }.map(\.utf8) ?? "".utf8)
    }

    /// The same for a record or a picture.
    func scoped(_ scope: PhotoScope) -> PhotoURLDay {
        var day = self
        day.scope = scope
        return day
    }

    /// Whether this makes the same URLs.
    func isSame(as other: PhotoURLDay) -> Bool {
        expires == other.expires && series == other.series && origin == other.origin
    }

    /// A code of an answer that is made of these URLs and of what a text names.
    ///
    /// - Parameter name: A text that is another one for each contents.
    /// - Returns: 43 letters of base64url.
    func code(of name: String) -> String {
        // No photo's id begins with NUL, so this code is never a valid signature.
        let named = Array("\0\(origin)\0\(expires) \(series) \(name)".utf8)
        return named.withUnsafeBytes { authenticator.code(of: $0) }.withUnsafeBytes { Base64URL.string(of: $0) }
    }
}
