import Foundation

/// The memory of a process, from `/proc/<id>/status` (proc(5)).
struct Memory: Sendable {
    /// Resident now.
    let residentMebibytes: Double
    /// The highest so far.
    let peakMebibytes: Double

    init(processID: Int32) throws {
        let path = "/proc/\(processID)/status"
        guard let status = try? String(contentsOfFile: path, encoding: .utf8) else { throw BenchError.missing(path) }
        try self.init(status: status)
    }

    init(status: String) throws(BenchError) {
        residentMebibytes = try Self.mebibytes("VmRSS:", status)
        peakMebibytes = try Self.mebibytes("VmHWM:", status)
    }

    private static func mebibytes(_ label: String, _ status: String) throws(BenchError) -> Double {
        let words = status.split(separator: "\n").first { $0.hasPrefix(label) }?.split { $0 == " " || $0 == "\t" }
        guard let words, words.count == 3, words[2] == "kB", let kibibytes = Double(words[1]) else {
            throw .unreadable(value: label, output: status)
        }
        return kibibytes / 1024
    }
}
