import Foundation

/// The files in a cluster's data folder that tell about the cluster, read from outside.
struct DataFolder: Sendable {
    /// The folder's name, as the server gets it: its working directory is the cluster's folder, and a relative name
    /// needs no quoting in `pg_ctl`'s shell.
    static let name = "data"

    let home: String

    var path: String { home + "/" + Self.name }

    /// The major version that made the data, such as `15`; nil when there is no data yet.
    var majorVersion: String? { contents("PG_VERSION")?.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// The running server's command line; that of the last one when none runs.
    var postmasterOptions: String? { contents("postmaster.opts") }

    /// The server that says it runs; it may have ended without clearing up.
    var postmaster: Postmaster {
        guard let text = contents("postmaster.pid") else { return .none }
        guard let line = text.split(separator: "\n").first, let processID = pid_t(line) else { return .unreadable }
        return .claimed(processID)
    }

    /// Removes what a server that is gone left behind, as it would have done itself.
    ///
    /// - Parameter socketDirectory: Where its socket was.
    func removeStaleLocks(socketDirectory: String) {
        for file in [path + "/postmaster.pid", socketDirectory + "/.s.PGSQL.\(ClusterLocation.port).lock"] {
            unlink(file)
        }
    }

    private func contents(_ file: String) -> String? {
        try? String(contentsOfFile: path + "/" + file, encoding: .utf8)
    }

    /// What `postmaster.pid` says.
    enum Postmaster: Equatable {
        case none

        /// A file cut short by a power loss; PostgreSQL itself refuses to start on it.
        case unreadable

        /// The process that wrote the file, or one that got its number afterwards.
        case claimed(pid_t)
    }
}
