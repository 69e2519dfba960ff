package import Foundation

/// Folders that tests have to themselves.
package enum TemporaryFolder {
    /// Runs a body with a new, empty folder, and removes it afterwards.
    ///
    /// - Parameter body: Gets the folder, by a path without links.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or an error of Foundation's.
    package static func with<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "selfie-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }
}
