package import ConnectionTestSupport
package import Foundation

extension RawConnection {
    /// Sends the head of an upload, and in the same write the body, if there is one.
    ///
    /// - Parameters:
    ///   - token: The session's.
    ///   - fields: Header fields beside those that each has, without line ends.
    ///   - body: The body.
    /// - Throws: What the connection throws.
    package func sendUploadHead(token: String, _ fields: String..., body: Data = Data()) async throws {
        let head = """
            POST /api/upload_photo HTTP/1.1\r
            Host: localhost\r
            Authorization: Token token=\(token)\r
            Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
            \(fields.map { "\($0)\r\n" }.joined())\r

            """
        try await send(Data(head.utf8) + body)
    }
}
