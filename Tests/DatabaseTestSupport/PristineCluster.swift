import EmbeddedPostgres
package import Foundation
import ProcessTestSupport
import ServerProcesses

/// A PostgreSQL cluster that nobody has used yet: made once in a run and copied by who needs one, since `initdb` takes
/// ten times as long as a copy.
package actor PristineCluster {
    private static let shared = PristineCluster()

    private var making: Task<URL, any Error>?

    /// Makes a cluster's folder, so that `EmbeddedPostgres` finds its data there.
    ///
    /// - Parameter directory: The cluster's folder; there must be none, but its parent.
    /// - Throws: `EmbeddedPostgresError`, an error of Foundation's, or `ServerProcessError`.
    package static func copy(to directory: URL) async throws {
        try await FolderCopy.make(of: try await shared.cluster(), at: directory)
    }

    private func cluster() async throws -> URL {
        if making == nil { making = Task { try await Self.make() } }
        return try await making?.value ?? URL(filePath: "/")
    }

    private static func make() async throws -> URL {
        let directory = try RunFolder.url.appending(path: "pristine")
        let server = EmbeddedPostgres(directory: directory.path, name: "selfie", settings: ["fsync": "off"])
        _ = try await server.start()
        try await server.stop()
        // All but the data belongs to the handle that made it.
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != "data" {
            try FileManager.default.removeItem(at: directory.appending(path: name))
        }
        return directory
    }
}
