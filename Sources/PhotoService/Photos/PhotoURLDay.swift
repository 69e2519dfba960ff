/// The URLs of photos that are made on one day, for clients of one origin.
struct PhotoURLDay {
    private let prefix: ArraySlice<UInt8>
    private let infix: ArraySlice<UInt8>
    private let authenticator: MessageAuthenticator

    /// - Parameters:
    ///   - origin: Scheme, host and port.
    ///   - expires: Until when the URLs work, in seconds since 1970.
    ///   - authenticator: Makes signatures for that end.
    init(origin: String, expires: Int, authenticator: MessageAuthenticator) {
        prefix = Array("\(origin)/photos/".utf8)[...]
        infix = Array("?expires=\(expires)&signature=".utf8)[...]
        self.authenticator = authenticator
    }

    /// Writes a photo's URL as a member of a JSON object.
    ///
    /// It is `<origin>/photos/<id>?expires=<seconds since 1970>&signature=<43 letters of base64url>`.
    func writeURL(of randomID: ArraySlice<UInt8>, as key: JSONKey, to json: inout JSONWriter) {
        json.member(key) { bytes in
            bytes.append(contentsOf: prefix)
            PercentEncoding.append(randomID, to: &bytes)
            bytes.append(contentsOf: infix)
            Base64URL.append(authenticator.code(of: randomID), to: &bytes)
        }
    }

    /// An entity tag for an answer that is made of this day's URLs and of contents.
    ///
    /// - Parameter contents: What the answer depends on beside the URLs' origin, end and key.
    /// - Returns: 43 letters of base64url in quotes.
    func tag(of contents: [UInt8]) -> String {
        // No photo's id holds a NUL, so that a tag never passes as a signature.
        var tag = [UInt8(ascii: "\"")]
        Base64URL.append(authenticator.code(of: [0], prefix, contents[...]), to: &tag)
        return String(decoding: tag, as: UTF8.self) + "\""
    }
}
