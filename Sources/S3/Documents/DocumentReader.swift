import CExpat
import NIOCore

/// Puts the events of Expat's parser together.
///
/// S3's documents have no document type and no processing instructions. Reading ends where one begins, so no document can
/// declare an entity.
final class DocumentReader {
    /// More than any document of S3's needs.
    private static let maxDepth = 16

    private let parser: XML_Parser
    /// From the root to the element that is being read.
    private var open: [DocumentElement] = []
    private var closedRoot: DocumentElement?
    /// Whether reading has ended early.
    ///
    /// Expat may still report what it has read already.
    private var isStopped = false

    init() {
        // Stores send UTF-8, whatever a declaration says. There is always memory for a parser, or the process ends.
        parser = XML_ParserCreate("UTF-8")
    }

    deinit {
        XML_ParserFree(parser)
    }

    /// The root, as far as it was read.
    var root: DocumentElement? {
        if let closedRoot { return closedRoot }
        return open.reversed().reduce(nil) { child, parent in
            var parent = parent
            if let child { parent.append(child) }
            return parent
        }
    }

    /// Reads a document once.
    ///
    /// - Parameter document: The document, or its beginning.
    /// - Returns: Whether it is well-formed to its end.
    func read(_ document: ByteBuffer) -> Bool {
        // The parser calls back only while it parses.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { reader, name, _ in
                guard let name else { return }
                DocumentReader.with(reader) { $0.begin(String(cString: name)) }
            },
            { reader, _ in DocumentReader.with(reader) { $0.end() } }
        )
        XML_SetCharacterDataHandler(parser) { reader, characters, count in
            let bytes = UnsafeRawBufferPointer(start: characters, count: Int(count))
            DocumentReader.with(reader) { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in DocumentReader.with(reader) { $0.stop() } }
        XML_SetProcessingInstructionHandler(parser) { reader, _, _ in DocumentReader.with(reader) { $0.stop() } }
        return document.withUnsafeReadableBytes { bytes in
            guard let count = Int32(exactly: bytes.count) else { return false }
            return XML_Parse(parser, bytes.baseAddress, count, 1) == XML_STATUS_OK
        }
    }

    /// The reader that is the parser's user data.
    private static func with(_ pointer: UnsafeMutableRawPointer?, _ body: (DocumentReader) -> Void) {
        guard let pointer else { return }
        body(Unmanaged.fromOpaque(pointer).takeUnretainedValue())
    }

    private func begin(_ qualifiedName: String) {
        guard !isStopped else { return }
        guard open.count < Self.maxDepth else { return stop() }
        let name = qualifiedName.split(separator: ":").last.map(String.init) ?? qualifiedName
        open.append(DocumentElement(name: name))
    }

    private func end() {
        guard !isStopped, let element = open.popLast() else { return }
        if open.isEmpty { closedRoot = element } else { open[open.count - 1].append(element) }
    }

    private func append(_ characters: String) {
        guard !isStopped, !open.isEmpty else { return }
        open[open.count - 1].append(characters)
    }

    private func stop() {
        isStopped = true
        XML_StopParser(parser, XML_Bool(0))
    }
}
