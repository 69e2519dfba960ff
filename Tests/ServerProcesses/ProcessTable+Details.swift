package import Foundation
import Glibc

extension ProcessTable {
    /// Halts a process with SIGSTOP, and waits until all of its threads have stopped.
    ///
    /// - Parameter processID: A process. A missing one is no error.
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

    /// A process's state, such as `Z` for a zombie; nil when it has ended.
    package static func state(of processID: pid_t) -> Character? { state(inFolder: "/proc/\(processID)") }

    private static func state(inFolder folder: String) -> Character? {
        let text = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8)
        // The name is in parentheses, and may contain some.
        return text?.split(separator: ")").last?.first { $0 != " " }
    }

    /// The time that a process has had of the processors.
    ///
    /// - Parameters:
    ///   - processID: The process.
    ///   - withEndedChildren: Whether to add that of the children that it has waited for.
    /// - Returns: The time, in steps of a hundredth of a second on most systems; zero for one that has ended.
    package static func processorTime(of processID: pid_t, withEndedChildren: Bool = false) -> Duration {
        let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        // After the name come the state, ten other fields, and four times.
        let fields = text?.split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.dropFirst(11).prefix(withEndedChildren ? 4 : 2).compactMap { Int($0) }.reduce(0, +)
        return .seconds(Double(ticks) / Double(sysconf(CInt(_SC_CLK_TCK))))
    }

    /// The targets of a process's open descriptors, by their numbers.
    ///
    /// - Parameter processID: A process that this one may inspect.
    /// - Returns: Such as `[1: "/tmp/postgres.log"]`.
    /// - Throws: An error of Foundation's when it has ended.
    package static func openFiles(of processID: pid_t) throws -> [Int: String] {
        let folder = "/proc/\(processID)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { files, name in
            guard let number = Int(name) else { return }
            files[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
        }
    }
}
