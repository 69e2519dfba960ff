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
        /// What was answered; nil for silence.
        package let status: Int?

        private enum CodingKeys: CodingKey { case time, connection, path, headers, body, answer }

        private struct Answer: Decodable { let status: Int }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            time = try values.decode(Double.self, forKey: .time)
            connection = try values.decode(Int.self, forKey: .connection)
            path = try values.decode(String.self, forKey: .path)
            headers = try values.decode([String: String].self, forKey: .headers)
            body = try values.decode(String.self, forKey: .body)
            status = try? values.decode(Answer.self, forKey: .answer).status
        }
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

    /// The settings of a service that sends pushes here.
    ///
    /// Apple's sandbox is below `/sandbox`.
    ///
    /// - Throws: What ``makeAccount()`` throws.
    package func settings() async throws -> [String: String] {
        [
            "APNS_KEY": Self.apnsKey, "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ",
            "APNS_TOPIC": "com.example.app", "APNS_URL": origin, "APNS_SANDBOX_URL": "\(origin)/sandbox",
            "FCM_SERVICE_ACCOUNT": try await makeAccount(), "FCM_URL": origin,
        ]
    }

    /// A key for these tests alone.
    package static let apnsKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAaKAyXhJpjJ57EP9
        WVytorSCak85Oibcngb/TKanSwyhRANCAAS6yK0IurW4FLUHBdB2XTABEgto9RkK
        tZOzdbrcvN80yfhxNjEGMgAgntX61kmhNo5MrnbOmaPYOobbYj2siZph
        -----END PRIVATE KEY-----
        """

    /// Makes an account that may fetch access tokens here.
    ///
    /// - Returns: The file that Google gives, as JSON.
    /// - Throws: What `openssl` and Foundation throw.
    package func makeAccount() async throws -> String {
        let key = folder.appending(path: "key.pem").path
        for arguments in [
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key],
            ["pkey", "-in", key, "-pubout", "-out", publicKeyPath],
        ] {
            let outcome = try await ProgramOutcome.run(URL(filePath: "/usr/bin/openssl"), arguments, directory: folder)
            guard outcome.status == 0 else { throw NotInTime(what: "openssl: \(outcome.errors)") }
        }
        let members = [
            "project_id": "selfies", "client_email": "push@selfies.example", "private_key_id": "k1",
            "private_key": try String(contentsOfFile: key, encoding: .utf8), "token_uri": "\(origin)/token",
        ]
        return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
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
