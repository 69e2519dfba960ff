package import Foundation

extension ProcessTable {
    /// A process's state, such as `Z` for one that has ended and that its parent has not asked for; nil when it is gone.
    package static func state(of processID: pid_t) -> Character? {
        let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
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
