package import Foundation
import ServerProcesses

/// The memory of a process, in KiB.
package struct ProcessMemory: Sendable {
    /// What is resident at the moment.
    package let resident: Int
    /// The most that was resident since the peak was last forgotten.
    package let peak: Int

    /// Looks at a process.
    ///
    /// Source of the names: the manual page proc_pid_status(5).
    ///
    /// - Parameter processID: The process.
    /// - Throws: An error of Foundation's when it has ended.
    package init(of processID: pid_t) throws {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        func kibibytes(_ name: String) throws -> Int {
            guard
                let match = status.firstMatch(of: try Regex("\(name):\\s+(\\d+) kB", as: (Substring, Substring).self)),
                let value = Int(match.output.1)
            else { throw NotInTime(what: name) }
            return value
        }
        resident = try kibibytes("VmRSS")
        peak = try kibibytes("VmHWM")
    }

    /// Has the peak begin anew; see proc_pid_clear_refs(5).
    package static func forgetPeak(of processID: pid_t) throws {
        try Data("5".utf8).write(to: URL(filePath: "/proc/\(processID)/clear_refs"))
    }

    /// By how many MiB a body raises a process's peak above what was resident before.
    package static func growth(of processID: pid_t, _ body: () async throws -> Void) async throws -> Int {
        try forgetPeak(of: processID)
        let before = try ProcessMemory(of: processID).resident
        try await body()
        return (try ProcessMemory(of: processID).peak - before) / 1024
    }
}
