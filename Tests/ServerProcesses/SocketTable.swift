import Foundation

/// The TCP sockets of this machine; see proc_net_tcp(5).
package enum SocketTable {
    /// How many sockets of a port are not closed.
    ///
    /// The other side may have closed its own.
    package static func openCount(at port: Int) throws -> Int { try count(column: 1, port: port, in: open) }

    /// How many connections to a port only the client has closed.
    ///
    /// A client's last bytes may still be on their way. Then only the client's socket shows it.
    package static func leftCount(at port: Int) throws -> Int {
        try count(column: 1, port: port, in: ["08"]) + count(column: 2, port: port, in: ["04", "05"])
    }

    /// How many sockets lead to a port and are not closed.
    package static func openCount(to port: Int) throws -> Int { try count(column: 2, port: port, in: open) }

    private static func count(column: Int, port: Int, in states: Set<Substring>) throws -> Int {
        let suffix = ":" + String(format: "%04X", port)
        return try lines().count { line in
            let columns = line.split(separator: " ")
            return columns.count > 3 && columns[column].hasSuffix(suffix) && states.contains(columns[3])
        }
    }

    /// The states ESTABLISHED and CLOSE_WAIT.
    private static let open: Set<Substring> = ["01", "08"]

    private static func lines() throws -> [Substring] {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/net/tcp") else { throw NotInTime(what: "net/tcp") }
        // The system gives one page at a time, and no length.
        var table = Data()
        while let page = try file.read(upToCount: 1 << 16), !page.isEmpty { table += page }
        return String(decoding: table, as: UTF8.self).split(separator: "\n")
    }
}
