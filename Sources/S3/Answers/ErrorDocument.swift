import NIOCore

/// The fields that we take from S3's XML error document.
///
/// The others are left out on purpose: after `SignatureDoesNotMatch` they hold the key's id and the string to sign.
/// Source: AWS, "Error responses", section "REST error responses".
struct ErrorDocument: Sendable, Hashable {
    /// How much of a document is read; what comes after is ignored.
    static let maxBytes = 64 * 1024
    /// How much of a field is used.
    static let maxFieldCharacters = 300

    private(set) var code: String?
    private(set) var message: String?
    private(set) var requestID: String?
    /// The bucket's region, when the request went to another.
    private(set) var region: String?

    /// Reads as far as the document is well-formed; other bytes give an empty value.
    init(_ bytes: ByteBuffer) {
        let beginning = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, Self.maxBytes))
        guard let root = DocumentElement.readBeginning(beginning ?? bytes), root.name == "Error" else { return }
        code = root["Code"].map(Self.printable)
        message = root["Message"].map(Self.printable)
        requestID = root["RequestId"].map(Self.printable)
        region = root["Region"].map(Self.printable)
    }

    /// Cut to its limit.
    ///
    /// Control characters are left out: they could forge lines in a log.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0.properties.generalCategory != .control }
        return String(String(String.UnicodeScalarView(scalars)).prefix(maxFieldCharacters))
    }
}
