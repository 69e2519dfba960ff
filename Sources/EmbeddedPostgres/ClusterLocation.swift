import Encodings
import FoundationEssentials
import Glibc

/// Decides where a cluster's files and its socket lie.
struct ClusterLocation: Sendable, Equatable {
    /// The port that names the socket; no TCP port is opened.
    static let port = 5432

    /// The longest path of a Unix socket, without the NUL at its end: 107 (`unix(7)`).
    static let maxSocketPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The folder of the data and the log.
    let home: String

    /// The folder of the socket.
    let socketDirectory: String

    /// The folder that replaces `directory`.
    ///
    /// The same directory always gets the same name.
    let shortFolder: String

    /// Sentences for the user, about files that are elsewhere than asked.
    let notices: [String]

    var usesShortFolder: Bool { home == shortFolder || socketDirectory == shortFolder }

    /// Decides.
    ///
    /// - Parameters:
    ///   - name: What the short folder's name begins with.
    ///   - directory: The cluster's folder, absolute and without links.
    ///   - temporaryDirectory: The short folder's parent.
    ///   - isEnterable: Whether the cluster's user can enter `directory`.
    init(name: String, directory: String, temporaryDirectory: String, isEnterable: Bool) {
        shortFolder = temporaryDirectory + "/\(name)-" + Self.stableHash(directory)
        home = isEnterable ? directory : shortFolder
        let socketPath = home + "/.s.PGSQL.\(Self.port)"
        // In libpq, a comma in a host begins another host, even if it is encoded.
        let isUsable = socketPath.utf8.count <= Self.maxSocketPathBytes && !home.contains(",")
        socketDirectory = isUsable ? home : shortFolder

        if home != directory {
            notices = [
                """
                The user that runs PostgreSQL cannot enter \(directory), so the cluster lies in \(home). \
                That is a temporary folder: the system may clear it after weeks without use.
                """
            ]
        } else if socketDirectory != home {
            notices = [
                """
                The path \(directory) is too long for a Unix socket, or has a comma in it, \
                so the socket lies in \(socketDirectory).
                """
            ]
        } else {
            notices = []
        }
    }

    /// A connection URL for libpq.
    ///
    /// It names the port, because libpq would otherwise use `PGPORT`.
    func url(user: String, database: String) -> String {
        "postgresql://\(user)@\(PercentEncoding.string(of: socketDirectory)):\(Self.port)/\(database)"
    }

    /// FNV-1a, 64 bits, in 16 hex digits: Swift's own hashes differ from run to run.
    static func stableHash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
