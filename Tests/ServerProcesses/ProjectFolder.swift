package import Foundation

/// Where the project's own files are.
package enum ProjectFolder {
    /// The folder of `Package.swift`.
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the migrations.
    package static let migrations = root.appending(path: "migrations")
}
