import Foundation

/// The work of all cores since the machine started, from `/proc/stat` (proc(5)).
struct ProcessorTime: Sendable, Equatable {
    let busyTicks: Int
    let totalTicks: Int

    init() throws {
        let path = "/proc/stat"
        guard let stat = try? String(contentsOfFile: path, encoding: .utf8) else { throw BenchError.missing(path) }
        try self.init(stat: stat)
    }

    init(stat: String) throws(BenchError) {
        let words = stat.split(separator: "\n").first { $0.hasPrefix("cpu ") }?.split(separator: " ").dropFirst() ?? []
        // user nice system idle iowait irq softirq steal. Later values are parts of the first two.
        let ticks = words.prefix(8).compactMap { Int($0) }
        guard ticks.count == 8 else { throw .unreadable(value: "processor time", output: stat) }
        totalTicks = ticks.reduce(0, +)
        busyTicks = totalTicks - ticks[3] - ticks[4]
    }

    /// How busy the machine was since an earlier look, from 0 to 100.
    func busyPercent(since earlier: ProcessorTime) -> Double {
        let total = totalTicks - earlier.totalTicks
        return total > 0 ? 100 * Double(busyTicks - earlier.busyTicks) / Double(total) : 0
    }

    /// How busy the machine is while this process waits.
    static func busyPercent(during duration: Duration) async throws -> Double {
        let start = try ProcessorTime()
        try await Task.sleep(for: duration)
        return try ProcessorTime().busyPercent(since: start)
    }
}
