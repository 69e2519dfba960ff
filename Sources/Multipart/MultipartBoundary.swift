import Encodings

/// The text that separates the parts of a body, as its Content-Type names it.
package struct MultipartBoundary: Equatable, Sendable {
    /// The longest boundary in bytes: RFC 2046, section 5.1.1.
    package static let maxBytes = 70

    /// The boundary as named: 1 to 70 bytes, without the two dashes that precede it in the body.
    ///
    /// Dashes of its own are part of it. Clients love them: the reference client's boundary begins
    /// with 27.
    package let bytes: [UInt8]

    /// Reads the boundary from a Content-Type.
    ///
    /// RFC 2046 allows letters, digits, blanks and a little punctuation. Here any character but a control character is
    /// accepted: nothing else can be mistaken for the end of a line.
    ///
    /// - Parameter contentType: The header's whole value, such as
    ///   `multipart/form-data; charset=utf-8; boundary="X"`: parameters in any order, quoted or not.
    /// - Throws: `MultipartError.notMultipart` for any other media type, `missingBoundary`,
    ///   `invalidBoundary`, `conflictingBoundaries`, or `malformedHeader` if quotes are left open.
    package init(contentType: String) throws(MultipartError) {
        let header = try HeaderParameters(contentType.utf8, quotedPairs: .all)
        guard ProtocolWord(header.value) == "multipart/form-data" else { throw .notMultipart }
        guard let bytes = try header.value(of: "boundary", ifConflicting: .conflictingBoundaries) else {
            throw .missingBoundary
        }
        guard (1...Self.maxBytes).contains(bytes.count), !bytes.contains(where: \.isControl) else {
            throw .invalidBoundary
        }
        self.bytes = bytes
    }
}
