package import Foundation
import Glibc
import ServerProcesses
import TestSupport

/// A real mail server that replies as a test wants (`smtp_server.py`).
package struct MailServerPeer: Sendable {
    /// How its connections are protected; the second does not let anybody sign in.
    package enum Protection: String, CaseIterable, Sendable {
        case none, plain, starttls, implicit
    }

    package struct Received: Decodable, Sendable {
        package let sender: String
        package let recipients: [String]
        package let isEncrypted: Bool
        package let user: String?
        package let bytes: Data
    }

    package let port: Int
    let folder: URL
    /// The certificate of the authority that has signed the server's.
    package let authorityPath: String

    /// Runs a body with a server for `localhost`.
    package static func with<Result>(
        _ protection: Protection,
        _ body: (MailServerPeer) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with { folder in
            let mails = folder.appending(path: "mails")
            try FileManager.default.createDirectory(at: mails, withIntermediateDirectories: true)
            let authority = try await TestCertificate.make("authority", for: nil, in: folder)
            let certificate = try await TestCertificate.make(
                "server",
                for: "DNS:localhost,IP:127.0.0.1,IP:::ffff:127.0.0.1",
                by: authority,
                in: folder
            )
            let process = try ServerProcess("smtp")
            defer { process.stop() }
            let command = try PythonScript.command("smtp_server.py") + [mails.path, protection.rawValue]
            let files = [.starttls, .implicit].contains(protection) ? [certificate.path, certificate.keyPath] : []
            let port = try await process.launch(command + files) { output in
                output.firstMatch(of: /listening on (\d+)\n/).flatMap { Int($0.1) }
            }
            return try await body(MailServerPeer(port: port, folder: mails, authorityPath: authority.path))
        }
    }

    /// What it replies to `MAIL`, `RCPT`, `DATA`, `QUIT` or `AUTH` from now on.
    ///
    /// - Parameter replies: `silence` for nothing, `cut` for the end of the connection.
    /// - Throws: An error of Foundation's, or `NotInTime` when the file can't be replaced.
    package func reply(_ replies: [String: String]) throws {
        let partial = folder.appending(path: "replies.part")
        try JSONEncoder().encode(replies).write(to: partial)
        guard rename(partial.path, folder.appending(path: "replies.json").path) == 0 else {
            throw NotInTime(what: "replies")
        }
    }

    /// Whether it was ever silent.
    package var isSilent: Bool { has("silent") }
    /// Whether a client has left.
    package var isLeft: Bool { has("left") }

    private func has(_ file: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: file).path)
    }

    /// All mails so far, the oldest first.
    package func mails() throws -> [Received] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let numbers = names.filter { $0.hasSuffix(".json") }.compactMap { Int($0.dropLast(5)) }.sorted()
        return try numbers.map { number in
            try JSONDecoder().decode(Received.self, from: Data(contentsOf: folder.appending(path: "\(number).json")))
        }
    }
}
