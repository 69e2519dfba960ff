import Encodings
import Foundation

/// The machine of a run.
struct Machine: Encodable, Sendable {
    var cores = ProcessInfo.processInfo.activeProcessorCount
    var processor = "unknown"
    var kernel = "unknown"
    var memoryGibibytes = Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824

    init() {
        let cpu = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        if let line = cpu.split(separator: "\n").first(where: { $0.hasPrefix("model name") }),
            let name = line.split(separator: ":").last
        {
            processor = name.trimmingWhitespace()
        }
        if let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8) {
            kernel = "Linux " + release.trimmingWhitespace()
        }
    }
}

/// The versions of the measured program and the tools.
struct Versions: Encodable, Sendable {
    let selfieCommit: String
    let swift: String
    let postgreSQL: String
    let wrk: String

    /// Asks the programs.
    static func installed(postgreSQL: String) async -> Versions {
        Versions(
            selfieCommit: await Tool.say("git", ["describe", "--always", "--dirty"]),
            swift: await Tool.say("swift", ["--version"]),
            postgreSQL: postgreSQL,
            // It prints its version, and then treats `-v` as an error.
            wrk: await Tool.say("wrk", ["-v"]).split(separator: " ").prefix(2).joined(separator: " ")
        )
    }
}
