import Foundation

/// Where a cluster's files and its socket lie: a decision, taken from what was asked for and what is possible.
struct ClusterLocation: Sendable, Equatable {
    /// The port that names the socket; no TCP port is opened.
    static let port = 5432

    /// The longest path of a Unix socket, without the NUL at its end: 107 on Linux, 103 on macOS (`unix(7)`).
    static let maxSocketPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The folder of the data and the log.
    let home: String

    /// The folder of the socket.
    let socketDirectory: String

    /// The stand-in for `directory`: its name is the same whenever the same directory is asked for.
    let shortFolder: String

    /// Sentences that tell the user what lies elsewhere than asked.
    let notices: [String]

    var usesShortFolder: Bool { home == shortFolder || socketDirectory == shortFolder }

    /// Decides.
    ///
    /// - Parameters:
    ///   - directory: The cluster's folder, absolute and without links.
    ///   - temporaryDirectory: The short folder's parent.
    ///   - isEnterable: Whether the cluster's user can enter `directory`.
    init(directory: String, temporaryDirectory: String, isEnterable: Bool) {
        shortFolder = temporaryDirectory + "/selfie-" + Self.stableHash(directory)
        home = isEnterable ? directory : shortFolder
        let socketPath = home + "/.s.PGSQL.\(Self.port)"
        // libpq takes a comma in a host, even an encoded one, for the start of another host.
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

    /// A connection URL as libpq reads it, with the port spelled out, since libpq would else ask `PGPORT`.
    func url(database: String) -> String {
        "postgresql://\(Cluster.superuser)@\(Self.percentEncoded(socketDirectory)):\(Self.port)/\(database)"
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

    /// All but the unreserved characters of RFC 3986, section 2.3, as `%XX`.
    static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += byte < 16 ? "%0" : "%"
                encoded += String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
