import Curl
import Foundation
import Glibc
import Mail
import ProcessTestSupport
import ServerProcesses
import TestSupport
import Testing

/// A real mail server that replies as a test wants (`smtp_server.py`).
struct MailServerPeer {
    /// How its connections are protected; the second does not let anybody sign in.
    enum Protection: String, CaseIterable {
        case none, plain, starttls, implicit
    }

    struct Received: Decodable {
        let sender: String
        let recipients: [String]
        let isEncrypted: Bool
        let user: String?
        let bytes: Data
    }

    let port: Int
    let folder: URL
    /// Trusts the server's certificate.
    let curl: CurlClient

    /// Runs a body with a server for `localhost`.
    static func with(_ protection: Protection, _ body: (MailServerPeer) async throws -> Void) async throws {
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
            var configuration = CurlConfiguration(environment: [:])
            configuration.trust = .file(path: authority.path)
            try await body(MailServerPeer(port: port, folder: mails, curl: CurlClient(configuration)))
        }
    }

    /// What it replies to `MAIL`, `RCPT`, `DATA` or `AUTH` from now on.
    ///
    /// - Parameter replies: `silence` for nothing, `cut` for the end of the connection.
    /// - Throws: An error of Foundation's, or `NotInTime` when the file can't be replaced.
    func reply(_ replies: [String: String]) throws {
        let partial = folder.appending(path: "replies.part")
        try JSONEncoder().encode(replies).write(to: partial)
        guard rename(partial.path, folder.appending(path: "replies.json").path) == 0 else {
            throw NotInTime(what: "replies")
        }
    }

    /// All mails so far, the oldest first.
    func mails() throws -> [Received] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let numbers = names.filter { $0.hasSuffix(".json") }.compactMap { Int($0.dropLast(5)) }.sorted()
        return try numbers.map { number in
            try JSONDecoder().decode(Received.self, from: Data(contentsOf: folder.appending(path: "\(number).json")))
        }
    }
}
