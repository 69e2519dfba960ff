import Foundation

/// How much memory a process has, as Linux tells it in `/proc/<id>/status` (proc(5)).
struct Memory: Sendable {
    /// What is resident now.
    let residentMebibytes: Double
    /// The most that ever was.
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
            throw .unreadable(figure: label, output: status)
        }
        return kibibytes / 1024
    }
}
