import Foundation
import ProcessTestSupport
import ServerProcesses

/// Copies a cluster's folder.
enum FolderCopy {
    /// Copies a folder, with owners and permissions: a server that root starts runs as another user.
    ///
    /// - Parameters:
    ///   - source: The folder.
    ///   - target: Where the copy goes; nothing may be there.
    /// - Throws: `ServerProcessError`, or an error of Foundation's.
    static func make(of source: URL, at target: URL) async throws {
        let outcome = try await ProgramOutcome.run(
            URL(filePath: "/bin/cp"),
            // Where the file system can, without copying any bytes.
            ["-a", "--reflink=auto", source.path, target.path],
            directory: URL(filePath: "/")
        )
        guard outcome.status == 0 else { throw ServerProcessError.failed("cp", errors: outcome.errors) }
    }
}
