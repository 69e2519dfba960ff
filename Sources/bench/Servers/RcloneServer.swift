import Foundation
import S3

/// The S3 server of a run: `rclone serve s3` over a folder, which checks signatures.
enum RcloneServer {
    static let bucket = "selfies"
    static let accessKeyID = "AKIABENCHONLY12345678"
    static let secretAccessKey = "bench-secret-access-key"

    /// Starts it, runs `body` and ends it.
    static func with<Result: Sendable>(
        in folder: URL,
        _ body: (ServerProcess) async throws -> Result
    ) async throws -> Result {
        let data = folder.appending(path: "bucket")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        return try await ServerProcess.with(
            "rclone",
            path: try path(),
            [
                "serve", "s3", data.path, "--addr", "127.0.0.1:0", "--auth-key", "\(accessKeyID),\(secretAccessKey)",
                "--config", "/dev/null", "--cache-dir", folder.appending(path: "rclone-cache").path,
            ],
            in: folder,
            findPort: { log in log.firstMatch(of: /s3 server on \[http:\/\/127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.1) }
            },
            body
        )
    }

    private static func path() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["RCLONE"], !named.isEmpty { return named }
        let folders = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/rclone" }
        let candidates = folders + [FileManager.default.currentDirectoryPath + "/.venv/bin/rclone"]
        guard let found = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw BenchError.missing("rclone")
        }
        return found
    }
}
