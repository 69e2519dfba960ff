import Foundation
import ServerProcesses
import ServiceTestSupport

extension URL {
    /// The names of what lies in a folder.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Writes a `.env` file into a folder.
    func writeEnvironment(_ values: [String: String]) throws {
        let lines = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        try Data(lines.joined().utf8).write(to: appending(path: ".env"))
    }

    /// Puts the project's own migrations into a folder.
    func copyMigrations() throws {
        try FileManager.default.copyItem(
            at: ProjectFolder.root.appending(path: "migrations"),
            to: appending(path: "migrations")
        )
    }
}

/// Requests as bytes, for connections that tests cut and slow down.
enum RawRequest {
    /// An upload's header, which says how many bytes follow.
    static func uploadHeader(token: String, bodyBytes: Int, extra: String = "") -> String {
        """
        POST /api/upload_photo HTTP/1.1\r
        Host: 127.0.0.1\r
        Authorization: Token token=\(token)\r
        Content-Type: multipart/form-data; boundary=\(TestMultipart.boundary)\r
        Content-Length: \(bodyBytes)\r
        \(extra)\r

        """
    }

    static func delete(_ randomID: String, token: String) -> String {
        """
        DELETE /api/delete_photo?photo_id=\(randomID) HTTP/1.1\r
        Host: 127.0.0.1\r
        Authorization: Token token=\(token)\r
        Connection: close\r
        \r

        """
    }
}
