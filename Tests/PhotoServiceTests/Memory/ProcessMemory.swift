import Foundation
import TestSupport

/// The memory of a process, in KiB.
struct ProcessMemory {
    /// What is resident at the moment.
    let resident: Int
    /// The most that was resident since the peak was last forgotten.
    let peak: Int

    /// Looks at a process.
    ///
    /// Source of the names: the manual page proc_pid_status(5).
    init(of process: SelfieProcess) throws {
        let status = try String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
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
    static func forgetPeak(of process: SelfieProcess) throws {
        try Data("5".utf8).write(to: URL(filePath: "/proc/\(process.processID)/clear_refs"))
    }

    /// By how many MiB a body raises a process's peak above what was resident before.
    static func growth(of process: SelfieProcess, _ body: () async throws -> Void) async throws -> Int {
        try forgetPeak(of: process)
        let before = try ProcessMemory(of: process).resident
        try await body()
        return (try ProcessMemory(of: process).peak - before) / 1024
    }
}
