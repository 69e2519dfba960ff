import Foundation
import Glibc
import ServerProcesses
import TestSupport

/// A push service over HTTP/2 and TLS that answers by a script (`push_server.py`).
package struct PushPeer: Sendable {
    package struct Received: Decodable, Sendable {
        /// In seconds since 1970.
        package let time: Double
        /// Which connection it came on, from 1 on.
        package let connection: Int
        package let path: String
        package let headers: [String: String]
        package let body: String
    }

    package let port: Int
    /// The certificate of the authority that has signed the server's.
    package let authorityPath: String
    private let folder: URL

    package var origin: String { "https://localhost:\(port)" }

    /// Runs a body with a push service for `localhost`.
    package static func with<Result>(_ body: (PushPeer) async throws -> Result) async throws -> Result {
        try await TemporaryFolder.with { folder in
            let authority = try await TestCertificate.make("authority", for: nil, in: folder)
            let certificate = try await TestCertificate.make("server", for: "DNS:localhost", by: authority, in: folder)
            let process = try ServerProcess("push")
            defer { process.stop() }
            let command =
                try PythonScript.command("push_server.py") + [folder.path, certificate.path, certificate.keyPath]
            let port = try await process.launch(command) { output in
                output.firstMatch(of: /listening on (\d+)\n/).flatMap { Int($0.1) }
            }
            return try await body(PushPeer(port: port, authorityPath: authority.path, folder: folder))
        }
    }

    /// The file with the public key that verifies requests for access tokens.
    package var publicKeyPath: String { folder.appending(path: "public.pem").path }

    /// What it answers from now on.
    ///
    /// - Parameter script: JSON, as `push_server.py` reads it.
    /// - Throws: An error of Foundation's, or `NotInTime` when the file can't be replaced.
    package func follow(_ script: String) throws {
        let partial = folder.appending(path: "script.part")
        try Data(script.utf8).write(to: partial)
        guard rename(partial.path, folder.appending(path: "script.json").path) == 0 else {
            throw NotInTime(what: "script")
        }
    }

    /// All requests so far, in their order.
    package func requests() throws -> [Received] {
        let file = folder.appending(path: "requests.jsonl")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return try text.split(separator: "\n").map { try JSONDecoder().decode(Received.self, from: Data($0.utf8)) }
    }
}
