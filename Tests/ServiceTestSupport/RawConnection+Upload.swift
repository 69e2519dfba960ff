package import ConnectionTestSupport

extension RawConnection {
    /// Sends the head of an upload.
    ///
    /// - Parameters:
    ///   - token: The session's.
    ///   - fields: Header fields beside those that each has, without line ends.
    /// - Throws: What the connection throws.
    package func sendUploadHead(token: String, _ fields: String...) async throws {
        try await send(
            """
            POST /api/upload_photo HTTP/1.1\r
            Host: localhost\r
            Authorization: Token token=\(token)\r
            Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
            \(fields.map { "\($0)\r\n" }.joined())\r

            """
        )
    }
}
