import NIOCore

/// An element of one of S3's XML documents, with its text and children.
struct DocumentElement: Sendable {
    /// Without a prefix, since only some stores use one.
    let name: String
    private(set) var text = ""
    private(set) var children: [DocumentElement] = []

    /// The text of the first child of that name; nil when there is none.
    subscript(name: String) -> String? {
        children.first { $0.name == name }?.text
    }

    /// The first child of that name; nil when there is none.
    func first(_ name: String) -> DocumentElement? {
        children.first { $0.name == name }
    }

    /// All children of that name.
    func all(_ name: String) -> [DocumentElement] {
        children.filter { $0.name == name }
    }
}

extension DocumentElement {
    /// Reads a document that must be well-formed to its end.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - name: The beginning of the root's name: some stores leave out the `Result` at its end.
    /// - Returns: The root.
    /// - Throws: ``S3NoAnswer/malformed``.
    static func read(_ bytes: ByteBuffer, root name: String) throws(S3NoAnswer) -> DocumentElement {
        let reader = DocumentReader()
        guard reader.read(bytes), let root = reader.root, root.name.hasPrefix(name) else { throw .malformed }
        return root
    }

    /// Reads the well-formed beginning of a document; nil if it is not XML.
    static func readBeginning(_ bytes: ByteBuffer) -> DocumentElement? {
        let reader = DocumentReader()
        _ = reader.read(bytes)
        return reader.root
    }

    mutating func append(_ child: DocumentElement) {
        children.append(child)
    }

    mutating func append(_ characters: String) {
        text += characters
    }
}
