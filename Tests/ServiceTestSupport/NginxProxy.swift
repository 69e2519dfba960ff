import Foundation
import ProcessTestSupport
import ServerProcesses
import Testing

/// nginx before services, by the configuration that the project gives as an example.
package enum NginxProxy {
    /// Where it listens.
    package struct Ports: Sendable {
        /// Does without TLS what the example does with it.
        package let plain: Int
        /// Takes TLS, with a certificate that only its own key has signed.
        package let secure: Int
        /// The example's port 80.
        package let redirecting: Int
    }

    /// How it differs from the example.
    package struct Options: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// It buffers answers, as nginx does by default.
        package static let buffersAnswers = Options(rawValue: 1)
        /// It caches photos, as the second example does.
        package static let cachesPhotos = Options(rawValue: 2)
    }

    /// Runs a body with a proxy.
    ///
    /// - Parameters:
    ///   - ports: Where the services listen.
    ///   - options: How it differs from the example.
    ///   - body: Gets the proxy's port.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the proxy from starting.
    package static func with<Result>(
        _ ports: [Int],
        options: Options = [],
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        try await withAllPorts(ports, options: options) { try await body($0.plain) }
    }

    /// Runs a body with a proxy and all the ports.
    ///
    /// - Parameters:
    ///   - ports: Where the services listen.
    ///   - options: How it differs from the example.
    ///   - body: Gets the proxy's ports.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the proxy from starting.
    package static func withAllPorts<Result>(
        _ ports: [Int],
        options: Options = [],
        _ body: (Ports) async throws -> Result
    ) async throws -> Result {
        let (process, listening) = try await start(ports, options)
        defer { process.stop() }
        let result = try await body(listening)
        if process.logTail.contains("signature=") { Issue.record("the log of nginx holds signatures") }
        return result
    }

    /// A header field by which a test says which address a request comes from, instead of 127.0.0.1.
    package static let addressHeader = "X-Test-Address"

    /// How often another port is tried, since another program may take one meanwhile.
    private static let tries = 3

    private static func start(_ ports: [Int], _ options: Options) async throws -> (ServerProcess, Ports) {
        for _ in 1..<tries {
            if let started = try? await startOnce(ports, options) { return started }
        }
        return try await startOnce(ports, options)
    }

    private static func startOnce(_ ports: [Int], _ options: Options) async throws -> (ServerProcess, Ports) {
        let process = try ServerProcess("nginx")
        let port = ServerProcess.anyPort()
        let listening = Ports(plain: port, secure: port + 1, redirecting: port + 2)
        let folder = process.folder.path
        // One process alone: a worker would outlive its master's end by force.
        // Only root may set a user, and others can't read root's files.
        let user = getuid() == 0 ? "user root;" : ""
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let settings = """
            daemon off; master_process off; \(user) pid \(folder)/pid; error_log stderr notice;
            events { worker_connections 768; }
            http { access_log off; \(temporary.joined(separator: " "))
            set_real_ip_from 127.0.0.1; real_ip_header \(addressHeader);
            \(try example(ports: ports, listeningOn: listening, in: folder, options: options))
            }
            """
        let file = process.folder.appending(path: "nginx.conf")
        try settings.write(to: file, atomically: true, encoding: .utf8)
        do {
            try await makeCertificate(in: process.folder)
            _ = try await process.launch([program(), "-p", folder, "-c", file.path]) { output in
                output.contains("getrlimit(RLIMIT_NOFILE)") ? true : nil
            }
        } catch {
            process.stop()
            throw error
        }
        return (process, listening)
    }

    private static func makeCertificate(in folder: URL) async throws {
        let outcome = try await ProgramOutcome.run(
            URL(filePath: "/usr/bin/env"),
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "2", "-subj", "/CN=selfies.example.com", "-keyout", "key.pem", "-out", "certificate.pem",
            ],
            directory: folder
        )
        guard outcome.status == 0 else { throw ServerProcessError.notStarted("openssl", log: outcome.errors) }
    }

    /// `deploy/nginx/selfie.conf` for these ports, with and without TLS.
    private static func example(
        ports: [Int],
        listeningOn listening: Ports,
        in folder: String,
        options: Options
    ) throws -> String {
        var servers = ports.makeIterator()
        var lines = try self.lines(of: "selfie.conf")
        if options.contains(.cachesPhotos) { try addPhotoCache(to: &lines) }
        return lines.compactMap { line -> String? in
            if line.contains("ssl_certificate_key") { return "ssl_certificate_key \(folder)/key.pem;" }
            if line.contains("ssl_certificate") { return "ssl_certificate \(folder)/certificate.pem;" }
            if line.contains("proxy_cache_path") { return String(line).replacing(/\/var\S+/, with: "\(folder)/photos") }
            if options.contains(.buffersAnswers), line.contains("proxy_buffering") { return nil }
            if line.contains("access_log") { return "access_log /dev/stderr selfie;" }
            if line.contains("listen 443 ssl") {
                return "listen 127.0.0.1:\(listening.plain); listen 127.0.0.1:\(listening.secure) ssl;"
            }
            // Not every machine has IPv6.
            if line.contains("listen [::]:") { return nil }
            if line.contains("listen 80;") { return "listen 127.0.0.1:\(listening.redirecting);" }
            if line.contains("error_log") { return String(line).replacing(/error_log \S+/, with: "error_log stderr") }
            guard line.contains("server 127.0.0.1:") else { return String(line) }
            return servers.next().map { "server 127.0.0.1:\($0) max_fails=1 fail_timeout=2s;" }
        }.joined(separator: "\n")
    }

    /// Adds the example of a cache: its first part to the `http` block, its locations to the server with TLS, which is last.
    private static func addPhotoCache(to lines: inout [Substring]) throws {
        let cache = try self.lines(of: "photo-cache.conf")
        guard let split = cache.firstIndex(where: { $0.hasPrefix("    location") }),
            let place = lines.lastIndex(where: { $0.contains("location / {") })
        else { throw ServerProcessError.notStarted("nginx", log: "the examples have no locations") }
        lines.insert(contentsOf: cache[split...], at: place)
        lines.insert(contentsOf: cache[..<split], at: 0)
    }

    private static func lines(of file: String) throws -> [Substring] {
        let file = ProjectFolder.root.appending(path: "deploy/nginx/\(file)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    }

    /// Debian puts it into a folder that is only in root's `PATH`.
    private static func program() -> String {
        let paths = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"]
        return paths.first(where: FileManager.default.isExecutableFile) ?? "nginx"
    }
}
