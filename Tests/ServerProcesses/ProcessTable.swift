import Encodings
package import Foundation
import Glibc

/// The processes of this machine; see `proc(5)`.
package enum ProcessTable {
    /// The numbers of all processes.
    package static func all() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
    }

    /// The processes that a process started and that have not ended.
    package static func children(of parent: pid_t) throws -> [pid_t] {
        try all().filter { processID in
            guard
                let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
                // The name in parentheses may hold spaces; then come the state and the parent.
                let fields = text.split(separator: ")").last?.split(separator: " ")
            else { return false }
            return fields.count > 1 && pid_t(fields[1]) == parent
        }
    }

    /// A process's working folder; nil when the process has ended.
    package static func workingDirectory(of processID: pid_t) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(processID)/cwd")
    }

    /// A process's name, at most 15 bytes; nil when it has ended.
    package static func name(of processID: pid_t) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(processID)/comm", encoding: .utf8)
        return text?.trimmingWhitespace()
    }

    /// The targets of this process's open descriptors, such as a path or `socket:[123]`.
    package static func openFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
    }
}
