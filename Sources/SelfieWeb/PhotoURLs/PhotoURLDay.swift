import Crypto
import Encodings

/// The URLs of photos that are made on one day, for clients of one origin.
struct PhotoURLDay {
    /// The path of a photo, up to its id.
    static let path = "/photos/"
    static let expiresName = "expires"
    static let signatureName = "signature"

    private let prefix: [UInt8]
    private let infix: [UInt8]
    private let authenticator: MessageAuthenticator

    /// - Parameters:
    ///   - origin: Scheme, host and port.
    ///   - expires: The end of the URLs, in seconds since 1970.
    ///   - authenticator: Makes the signatures for that end.
    init(origin: String, expires: Int, authenticator: MessageAuthenticator) {
        prefix = Array("\(origin)\(Self.path)".utf8)
        infix = Array("?\(Self.expiresName)=\(expires)&\(Self.signatureName)=".utf8)
        self.authenticator = authenticator
    }

    /// Writes a photo's URL.
    ///
    /// It is `<origin>/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id, as UTF-8.
    ///   - text: The text to append to.
    func appendURL(of randomID: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        prefix.withUnsafeBytes { text.append($0) }
        PercentEncoding.append(randomID, to: &text)
        infix.withUnsafeBytes { text.append($0) }
        authenticator.code(of: randomID).withUnsafeBytes { Base64URL.append($0, to: &text) }
    }

    /// A code of an answer that is made of this day's URLs and of contents.
    ///
    /// Different answers have different codes.
    ///
    /// - Parameter contents: The contents of the answer, without the URLs.
    /// - Returns: 43 letters of base64url.
    func code(of contents: [UInt8]) -> String {
        let code = authenticator.code { hash in
            // No photo's id holds NUL, so this code is never a valid signature.
            withUnsafeBytes(of: UInt8(0)) { hash.update(bufferPointer: $0) }
            prefix.withUnsafeBytes { hash.update(bufferPointer: $0) }
            contents.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        return code.withUnsafeBytes { Base64URL.string(of: $0) }
    }
}
