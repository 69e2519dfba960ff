import Foundation
import ProcessTestSupport
import ServerProcesses
import TestSupport

/// A server of the `openssl` command, which answers each request with a page about the connection.
struct TLSPeer {
    let port: Int

    /// Runs a body with a server.
    static func with<Result>(
        _ certificate: TestCertificate,
        _ options: [String] = [],
        _ body: (TLSPeer) async throws -> Result
    ) async throws -> Result {
        let process = try ServerProcess("openssl")
        defer { process.stop() }
        let command = [
            "/usr/bin/env", "openssl", "s_server", "-accept", "127.0.0.1:0", "-www",
            "-cert", certificate.path, "-key", certificate.keyPath,
        ]
        let port = try await process.launch(command + options) { output in
            output.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
        }
        return try await body(TLSPeer(port: port))
    }
}
