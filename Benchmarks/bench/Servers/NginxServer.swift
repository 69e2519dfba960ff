import Foundation
import ServerProcesses

/// nginx as Debian sets it up, serving a folder.
enum NginxServer {
    /// Starts it, runs `body` and ends it.
    static func with<Result: Sendable>(
        serving root: URL,
        in folder: URL,
        _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        let own = folder.appending(path: "nginx")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let port = ServerProcess.anyPort()
        let file = own.appending(path: "nginx.conf")
        try configuration(port: port, root: root, own: own).write(to: file, atomically: true, encoding: .utf8)
        return try await RunningServer.with(
            "nginx",
            path: try path(),
            ["-p", own.path, "-c", file.path],
            findPort: { $0.contains("start worker processes") ? port : nil },
            body
        )
    }

    /// The part of Debian's configuration that serves files, with its access log.
    private static func configuration(port: Int, root: URL, own: URL) -> String {
        // Only root may set a user, and others can't read root's files.
        let user = getuid() == 0 ? "user root;" : ""
        return """
            daemon off; \(user) worker_processes auto; pid \(own.path)/pid; error_log stderr notice;
            events { worker_connections 768; }
            http {
              sendfile on; tcp_nopush on; access_log \(own.path)/access.log; default_type image/png;
              client_body_temp_path \(own.path)/body; proxy_temp_path \(own.path)/proxy;
              fastcgi_temp_path \(own.path)/fastcgi; uwsgi_temp_path \(own.path)/uwsgi; scgi_temp_path \(own.path)/scgi;
              server { listen 127.0.0.1:\(port); root \(root.path); }
            }
            """
    }

    /// Debian puts it into a folder that is only in root's `PATH`.
    private static func path() throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = (folders + ["/usr/sbin", "/sbin"]).map { "\($0)/nginx" }
        guard let found = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw BenchError.missing("nginx")
        }
        return found
    }
}
