import DatabaseTestSupport
import Foundation
import ProcessTestSupport

@testable import EmbeddedPostgres

/// A PostgreSQL server on a TCP port of this machine that takes TLS, with a certificate for `localhost`.
///
/// The tests of a run share it; it ends with the run's folder.
struct TLSServer {
    static let shared = Task { try await start() }

    let port: Int
    /// A file with the certificate of the authority that signed the server's.
    let rootCertificate: String
    /// One of an authority that did not.
    let otherRootCertificate: String

    private static func start() async throws -> TLSServer {
        let user = try ClusterUser.current()
        let command = Command(user: user)
        let binaries = try await PostgresBinaries.find(.system, majorVersion: nil, user: user)
        let folder = try RunFolder.url.appending(path: "tls")
        try await PristineCluster.copy(to: folder)
        for name in ["server", "other"] { try await makeCertificate(name, in: folder.path, command) }
        return TLSServer(
            port: try await start(binaries, in: folder.path, command),
            rootCertificate: "\(folder.path)/server.crt",
            otherRootCertificate: "\(folder.path)/other.crt"
        )
    }

    /// Makes a certificate that its own key has signed, so that it is its authority, too.
    private static func makeCertificate(_ name: String, in folder: String, _ command: Command) async throws {
        try await command.succeed(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", "\(name).key", "-out", "\(name).crt",
            ],
            in: folder
        )
        try await command.succeed("chmod", ["600", "\(name).key"], in: folder)
    }

    /// Starts the server on a port below those that the system hands out, another one when that is taken.
    private static func start(
        _ binaries: PostgresBinaries,
        in folder: String,
        _ command: Command,
        attempts: Int = 5
    ) async throws -> Int {
        let port = Int.random(in: 20_000..<30_000)
        let settings = [
            "listen_addresses=localhost", "port=\(port)", "unix_socket_directories=", "fsync=off", "ssl=on",
            "ssl_cert_file=\(folder)/server.crt", "ssl_key_file=\(folder)/server.key",
        ]
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        let arguments = ["start", "-D", "data", "-w", "-l", "log", "-o", options]
        if try await command.run(binaries.pgCtl, arguments, in: folder).isSuccess { return port }
        guard attempts > 1 else {
            let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
            throw EmbeddedPostgresError.startFailed(output: "", logPath: "\(folder)/log", logTail: log)
        }
        return try await start(binaries, in: folder, command, attempts: attempts - 1)
    }
}
