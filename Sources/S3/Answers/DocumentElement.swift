import Foundation
import FoundationXML
import NIOCore

/// An element of one of S3's XML documents, with its text and children.
struct DocumentElement: Sendable {
    /// Without a prefix, since only some stores use one.
    let name: String
    fileprivate(set) var text = ""
    fileprivate(set) var children: [DocumentElement] = []

    /// The text of the first child of that name; nil when there is none.
    subscript(name: String) -> String? {
        children.first { $0.name == name }?.text
    }

    /// All children of that name.
    func all(_ name: String) -> [DocumentElement] {
        children.filter { $0.name == name }
    }
}

extension DocumentElement {
    /// More than any document of S3's needs.
    private static let maxDepth = 16

    /// Reads a document that must be well-formed to its end.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - name: The beginning of the root's name: some stores leave out the `Result` at its end.
    /// - Returns: The root.
    /// - Throws: ``S3NoAnswer/malformed``.
    static func read(_ bytes: ByteBuffer, root name: String) throws(S3NoAnswer) -> DocumentElement {
        let reader = Reader(maxDepth: maxDepth)
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self),
            Reader.readablePart(of: text).endIndex == text.endIndex, reader.read(text),
            let root = reader.root, root.name.hasPrefix(name)
        else { throw .malformed }
        return root
    }

    /// Reads the well-formed beginning of a document; nil if it is not XML.
    static func readBeginning(_ bytes: ByteBuffer) -> DocumentElement? {
        let reader = Reader(maxDepth: maxDepth)
        // It may have been cut within a character.
        let text = String(decoding: bytes.readableBytesView, as: UTF8.self)
        _ = reader.read(String(Reader.readablePart(of: text)))
        return reader.root
    }
}

/// Puts the parser's events together.
private final class Reader: NSObject, XMLParserDelegate {
    private let maxDepth: Int
    /// From the root to the element that is being read.
    private var open: [DocumentElement] = []
    private var closedRoot: DocumentElement?

    init(maxDepth: Int) {
        self.maxDepth = maxDepth
    }

    /// The root, as far as it was read.
    var root: DocumentElement? {
        if let closedRoot { return closedRoot }
        return open.reversed().reduce(nil) { child, parent in
            var parent = parent
            if let child { parent.children.append(child) }
            return parent
        }
    }

    /// The part of a document that is safe for Foundation's parser: all up to the first processing instruction.
    ///
    /// The parser crashes on names that are not UTF-8, and on processing instructions without data, such as `<?a?>`.
    /// S3's documents have none. The XML declaration at the beginning only looks like one.
    static func readablePart(of text: String) -> Substring {
        let (scalars, declaration) = (text.unicodeScalars, "<?xml".unicodeScalars)
        let start = scalars.first == "\u{FEFF}" ? scalars.index(after: scalars.startIndex) : scalars.startIndex
        var contents = scalars[start...]
        if contents.starts(with: declaration), let next = contents.dropFirst(declaration.count).first, next.isXMLSpace {
            contents = contents.dropFirst(declaration.count)
        }
        return text[..<(contents.firstRange(of: "<?".unicodeScalars)?.lowerBound ?? text.endIndex)]
    }

    /// - Parameter text: The document's readable part.
    /// - Returns: Whether the document is well-formed.
    func read(_ text: String) -> Bool {
        let parser = XMLParser(data: Data(text.utf8))
        parser.shouldResolveExternalEntities = false
        parser.delegate = self
        return parser.parse() && closedRoot != nil
    }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < maxDepth, closedRoot == nil else { return parser.abortParsing() }
        let name = elementName.split(separator: ":").last.map(String.init) ?? elementName
        open.append(DocumentElement(name: name))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty { closedRoot = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += string
    }
}

extension Unicode.Scalar {
    /// Source: XML 1.0, section 2.3, "S".
    fileprivate var isXMLSpace: Bool { [" ", "\t", "\r", "\n"].contains(self) }
}
