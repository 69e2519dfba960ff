import Foundation

/// How long calls failed after each loss.
struct ClusterReport {
    /// What followed one loss.
    struct Line {
        let loss: ClusterLosses.Loss
        /// The calls that failed, by kind.
        var counts: [ClusterCalls.Failure.Kind: Int] = [:]
        /// The time from the loss to the beginning of the last call that failed, in seconds.
        ///
        /// This and ``lastEnd`` leave out uploads that were under way.
        var lastBegin: TimeInterval = 0
        /// The time from the loss to the end of the last call that failed, in seconds.
        var lastEnd: TimeInterval = 0
        /// The same for the last upload that was still under way.
        var lastUnderWay: TimeInterval = 0
    }

    /// For each loss, in order of time.
    private(set) var lines: [Line]
    /// Calls that failed before the first loss.
    private(set) var early: [ClusterCalls.Failure] = []

    init(_ failures: [ClusterCalls.Failure], _ losses: [ClusterLosses.Loss]) {
        lines = losses.map { Line(loss: $0) }
        for failure in failures {
            // A loss fails the calls that are under way.
            guard let index = lines.lastIndex(where: { $0.loss.time <= failure.end }) else {
                early.append(failure)
                continue
            }
            lines[index].counts[failure.kind, default: 0] += 1
            let time = lines[index].loss.time
            let (begin, end) = (failure.start.timeIntervalSince(time), failure.end.timeIntervalSince(time))
            if failure.kind == .underWay {
                lines[index].lastUnderWay = max(lines[index].lastUnderWay, end)
            } else {
                lines[index].lastBegin = max(lines[index].lastBegin, begin)
                lines[index].lastEnd = max(lines[index].lastEnd, end)
            }
        }
    }

    /// A table, with the losses as they are lost.
    var text: String {
        let rows = lines.map { line in
            let counts = line.counts.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ")
            let times = String(format: "%5.1f s, %5.1f s", line.lastBegin, line.lastEnd)
            return "\(line.loss.what.padding(toLength: 22, withPad: " ", startingAt: 0)) \(times)  \(counts)"
        }
        let head = "lost                   last failed call began, ended; calls that failed"
        return ([head] + rows).joined(separator: "\n")
    }
}
