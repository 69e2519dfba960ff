import Crypto

/// The URLs of photos that are made on one day, for clients of one origin.
struct PhotoURLDay {
    private let prefix: [UInt8]
    private let infix: [UInt8]
    private let authenticator: MessageAuthenticator

    /// - Parameters:
    ///   - origin: Scheme, host and port.
    ///   - expires: Until when the URLs work, in seconds since 1970.
    ///   - authenticator: Makes signatures for that end.
    init(origin: String, expires: Int, authenticator: MessageAuthenticator) {
        prefix = Array("\(origin)/photos/".utf8)
        infix = Array("?expires=\(expires)&signature=".utf8)
        self.authenticator = authenticator
    }

    /// Writes a photo's URL as a member of a JSON object.
    ///
    /// It is `<origin>/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`.
    func writeURL(of randomID: UnsafeRawBufferPointer, as key: JSONKey, to json: inout JSONWriter) {
        json.member(key) { text in
            prefix.withUnsafeBytes { text.append($0) }
            PercentEncoding.append(randomID, to: &text)
            infix.withUnsafeBytes { text.append($0) }
            authenticator.code(of: randomID).withUnsafeBytes { Base64URL.append($0, to: &text) }
        }
    }

    /// An entity tag for an answer that is made of this day's URLs and of contents.
    ///
    /// - Parameter contents: What the answer depends on beside the URLs' origin, end and key.
    /// - Returns: 43 letters of base64url.
    func tag(of contents: [UInt8]) -> EntityTag {
        let code = authenticator.code { hash in
            // No photo's id holds a NUL, so that a tag never passes as a signature.
            withUnsafeBytes(of: UInt8(0)) { hash.update(bufferPointer: $0) }
            prefix.withUnsafeBytes { hash.update(bufferPointer: $0) }
            contents.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        return EntityTag(code.withUnsafeBytes { Base64URL.string(of: $0) })
    }
}
