import Encodings

/// How a list spells its values.
struct ListDecoding {
    let document: DocumentElement
    private let encodesKeys: Bool

    init(_ document: DocumentElement) {
        self.document = document
        encodesKeys = document["EncodingType"]?.lowercased() == "url"
    }

    /// A key.
    ///
    /// If the store did as asked, it is URL-encoded, since XML can't hold every character.
    ///
    /// Source: AWS, "ListObjectsV2", parameter `encoding-type`; it encodes a space as `+`, as forms do.
    func key(_ text: String?) -> String? {
        Self.key(text, isEncoded: encodesKeys)
    }

    /// The key in the spelling that the store does not claim to use.
    func otherKey(_ text: String?) -> String? {
        Self.key(text, isEncoded: !encodesKeys)
    }

    private static func key(_ text: String?, isEncoded: Bool) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard isEncoded else { return text }
        let bytes = PercentEncoding.bytes(of: text.utf8, plusIsSpace: true)
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The marker of the next page; nil at the end.
    ///
    /// - Throws: ``S3NoAnswer/malformed`` for a truncated list without the start of the next page. Its other objects must
    ///   not count as missing.
    func next(_ name: String) throws(S3NoAnswer) -> String? {
        guard document["IsTruncated"]?.lowercased() == "true" else { return nil }
        guard let marker = document[name], !marker.isEmpty else { throw .malformed }
        return marker
    }
}
