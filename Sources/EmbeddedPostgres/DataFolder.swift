import Encodings
import FoundationEssentials
import Glibc

/// The files of a cluster's data folder that describe the cluster.
struct DataFolder: Sendable {
    /// The folder's name, as the server gets it.
    ///
    /// It is relative, so it needs no quoting in `pg_ctl`'s shell.
    static let name = "data"

    let home: String

    var path: String { home + "/" + Self.name }

    /// The major version that made the data, such as `15`; nil when there is no data yet.
    var majorVersion: String? { contents("PG_VERSION")?.trimmingWhitespace() }

    /// The command line of the running server, or of the last one.
    var postmasterOptions: String? { contents("postmaster.opts") }

    /// The server that the files call running.
    ///
    /// It may have ended without removing them.
    var postmaster: Postmaster {
        guard let text = contents("postmaster.pid") else { return .none }
        guard let line = text.split(separator: "\n").first, let processID = pid_t(line) else { return .unreadable }
        return .claimed(processID)
    }

    /// Removes the lock files that a dead server left behind.
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

    /// The contents of `postmaster.pid`.
    enum Postmaster: Equatable {
        case none

        /// The file was cut short by a loss of power. PostgreSQL refuses to start with it.
        case unreadable

        /// The process that wrote the file, or another that has its number now.
        case claimed(pid_t)
    }
}
