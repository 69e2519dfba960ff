import SystemPackage

/// A file with a token in one line, which others replace.
enum TokenFile {
    /// The most bytes that are read.
    private static let maxBytes = 32 * 1024

    /// The token that the file holds at the time.
    ///
    /// - Throws: ``S3CredentialFailure/tokenFileUnreadable(path:)`` or ``S3CredentialFailure/tokenMalformed(path:)``.
    static func read(_ path: String) throws(S3CredentialFailure) -> String {
        guard let bytes = try? beginning(ofFile: path) else { throw .tokenFileUnreadable(path: path) }
        guard bytes.count <= maxBytes, let token = String(validating: bytes, as: UTF8.self), isToken(token) else {
            throw .tokenMalformed(path: path)
        }
        return token
    }

    /// Whether a text can be the value of a header: a line break would begin a header of the token's own.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// As many bytes as a token may have, and one more.
    private static func beginning(ofFile path: String) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while bytes.count <= maxBytes {
                let rest = maxBytes + 1 - bytes.count
                let chunk = try [UInt8](unsafeUninitializedCapacity: rest) { buffer, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
                }
                guard !chunk.isEmpty else { break }
                bytes += chunk
            }
            return bytes
        }
    }
}
