import Foundation
import ProcessTestSupport
import ServerProcesses

/// nginx with HTTP/2, which answers with the protocol and the number of the connection.
///
/// It ends the connection of a request for `/end` without an answer.
struct HTTP2Server {
    let port: Int

    static func with<Result>(
        _ certificate: TestCertificate,
        _ body: (HTTP2Server) async throws -> Result
    ) async throws -> Result {
        let process = try ServerProcess("nginx")
        defer { process.stop() }
        let port = ServerProcess.anyPort()
        let settings = """
            daemon off; master_process off; pid nginx.pid; error_log /dev/stderr notice;
            events {}
            http {
                access_log off;
                client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(certificate.path); ssl_certificate_key \(certificate.keyPath);
                    location / { return 200 "$server_protocol $connection"; }
                    location /end { return 444; }
                }
            }
            """
        let file = process.folder.appending(path: "nginx.conf")
        try Data(settings.utf8).write(to: file)
        let command = "PATH=$PATH:/usr/sbin; exec nginx -p '\(process.folder.path)' -c '\(file.path)'"
        _ = try await process.launch(["/bin/sh", "-c", command]) { output in
            output.contains("getrlimit(RLIMIT_NOFILE)") ? true : nil
        }
        return try await body(HTTP2Server(port: port))
    }
}
