import Foundation
import NIOCore

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The three fields that we take from S3's XML error document.
///
/// The others stay behind on purpose: after `SignatureDoesNotMatch` they hold the key's id and the string to sign.
/// Source: AWS, "Error responses", section "REST error responses".
struct ErrorDocument: Sendable, Hashable {
    /// How much of a document is read; what comes after is ignored.
    static let bytesMax = 64 * 1024
    /// How much of a field is kept.
    static let fieldCharactersMax = 300

    private(set) var code: String?
    private(set) var message: String?
    private(set) var requestID: String?

    /// Reads as far as the document is well-formed; other bytes give an empty value.
    init(_ bytes: ByteBuffer) {
        let reader = Reader()
        let parser = XMLParser(data: Data(bytes.readableBytesView.prefix(Self.bytesMax)))
        parser.delegate = reader
        _ = parser.parse()
        code = reader.fields["Code"].map(Self.printable)
        message = reader.fields["Message"].map(Self.printable)
        requestID = reader.fields["RequestId"].map(Self.printable)
    }

    /// Cut to its limit, and without the control characters that would forge lines in a log.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0.properties.generalCategory != .control }
        return String(String(String.UnicodeScalarView(scalars)).prefix(fieldCharactersMax))
    }
}

/// Collects the text of the elements that stand directly in the root, which is `Error`.
private final class Reader: NSObject, XMLParserDelegate {
    private(set) var fields: [String: String] = [:]
    private var path: [String] = []

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        path.append(elementName)
    }

    func parser(
        _ parser: XMLParser,
        didEndElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        _ = path.popLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard path.count == 2, path[0] == "Error" else { return }
        fields[path[1], default: ""] += string
    }
}
