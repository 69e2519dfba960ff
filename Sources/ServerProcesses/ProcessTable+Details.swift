package import Foundation
import Glibc

extension ProcessTable {
    /// Halts a process with SIGSTOP, and waits until all of its threads have stopped: until then some of them go on.
    ///
    /// - Parameter processID: A process; one that is gone is no error.
    /// - Throws: `NotInTime`.
    package static func halt(_ processID: pid_t) async throws {
        kill(processID, SIGSTOP)
        let folder = "/proc/\(processID)/task"
        try await poll("\(processID) has stopped") {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return threads.allSatisfy { [nil, "T", "Z"].contains(state(inFolder: "\(folder)/\($0)")) }
        }
    }

    /// Lets a halted process run on.
    package static func resume(_ processID: pid_t) {
        kill(processID, SIGCONT)
    }

    /// A process's state, such as `Z` for one that has ended and that its parent has not asked for; nil when it is gone.
    package static func state(of processID: pid_t) -> Character? { state(inFolder: "/proc/\(processID)") }

    private static func state(inFolder folder: String) -> Character? {
        let text = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8)
        // The name in parentheses may hold some itself.
        return text?.split(separator: ")").last?.first { $0 != " " }
    }

    /// What the open descriptors of a process lead to, by their numbers.
    ///
    /// - Parameter processID: The process, which this one may look into.
    /// - Returns: Such as `[1: "/tmp/postgres.log"]`.
    /// - Throws: An error of Foundation's when it is gone.
    package static func openFiles(of processID: pid_t) throws -> [Int: String] {
        let folder = "/proc/\(processID)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { files, name in
            guard let number = Int(name) else { return }
            files[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
        }
    }
}
