import Crypto
import Encodings

/// The URLs of photos that are made on one day, for clients of one origin.
struct PhotoURLDay {
    /// The path of a photo, up to its id.
    static let path = "/photos/"
    static let expiresName = "expires"
    static let seriesName = "series"
    static let signatureName = "signature"

    private let prefix: [UInt8]
    private let infix: [UInt8]
    /// What is signed behind a photo's id.
    private let suffix: [UInt8]
    private let authenticator: MessageAuthenticator

    /// - Parameters:
    ///   - origin: Scheme, host and port.
    ///   - expires: The end of the URLs, in seconds since 1970.
    ///   - series: The number of the user's present series of URLs.
    ///   - authenticator: Makes the signatures for that end.
    init(origin: String, expires: Int, series: Int, authenticator: MessageAuthenticator) {
        prefix = Array("\(origin)\(Self.path)".utf8)
        let seriesItem = series == 0 ? "" : "\(Self.seriesName)=\(series)&"
        infix = Array("?\(Self.expiresName)=\(expires)&\(seriesItem)\(Self.signatureName)=".utf8)
        suffix = Self.signedText(ofSeries: series)
        self.authenticator = authenticator
    }

    /// What is signed behind a photo's id, which holds no NUL.
    ///
    /// It is nothing for the first series, so that URLs of versions before 0.11 go on working.
    static func signedText(ofSeries series: Int) -> [UInt8] {
        series == 0 ? [] : Array("\0\(series)".utf8)
    }

    /// Whether this makes the same URLs.
    func isSame(as other: PhotoURLDay) -> Bool {
        prefix == other.prefix && infix == other.infix
    }

    /// Writes a photo's URL.
    ///
    /// It is `<origin>/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`, with
    /// `series=<number>&` in the middle after the user has ended earlier URLs.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id, as UTF-8.
    ///   - text: The text to append to.
    func appendURL(of randomID: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        prefix.withUnsafeBytes { text.append($0) }
        PercentEncoding.append(randomID, to: &text)
        infix.withUnsafeBytes { text.append($0) }
        let code = authenticator.code { hash in
            hash.update(bufferPointer: randomID)
            if !suffix.isEmpty { suffix.withUnsafeBytes { hash.update(bufferPointer: $0) } }
        }
        code.withUnsafeBytes { Base64URL.append($0, to: &text) }
    }

    /// A code of an answer that is made of these URLs and of what a text names.
    ///
    /// - Parameter name: A text that is another one for each contents.
    /// - Returns: 43 letters of base64url.
    func code(of name: String) -> String {
        let code = authenticator.code { hash in
            // No photo's id begins with NUL, so this code is never a valid signature.
            withUnsafeBytes(of: UInt8(0)) { hash.update(bufferPointer: $0) }
            for part in [prefix, infix, Array(name.utf8)] { part.withUnsafeBytes { hash.update(bufferPointer: $0) } }
        }
        return code.withUnsafeBytes { Base64URL.string(of: $0) }
    }
}
