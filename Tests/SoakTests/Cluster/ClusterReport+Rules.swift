import Foundation

/// What a cluster promises of its calls after a loss.
extension ClusterReport {
    /// When the last call may begin that fails after a loss, in seconds.
    private static let maxBegin: TimeInterval = 15
    /// When it may end: such a call may wait 5 seconds more before it is answered.
    ///
    /// It waits 2 seconds for a connection to the database (`PoolLimits.leaseTimeout`), and 3 for a statement
    /// (`PostgresConfiguration.statementTimeout` with `answerGrace`). A proxy waits as long for a host that vanished (`srvtcpka`
    /// in `edge/haproxy.cfg`), and the service 4 seconds for a silent store (`S3Deadlines.silence`).
    private static let maxEnd: TimeInterval = 15 + 5
    /// When an upload may last get 409: its key is held for 40 seconds after a crash, and looked at every 5.
    private static let maxUnderWay: TimeInterval = 15 + 40 + 5

    /// What is wrong with calls that failed, a few words each.
    var problems: [String] {
        earlyProblems + lines.flatMap { Self.wrongKinds(of: $0) + Self.lateness(of: $0) }
    }

    /// What is wrong with tries that one proxy did not answer, a few words each.
    var rerouteProblems: [String] {
        earlyProblems
            + lines.flatMap { line in
                Self.wrongKinds(of: line) + (line.loss.takesEdge ? Self.absence(of: line) : Self.lateness(of: line))
            }
    }

    private var earlyProblems: [String] { early.isEmpty ? [] : ["failed without a loss: \(early.prefix(10))"] }

    private static func wrongKinds(of line: Line) -> [String] {
        line.counts.filter { !isAllowed($0.key, after: line.loss) }
            .map { "\(line.loss.what): \($0.key), \($0.value) times" }.sorted()
    }

    private static func isAllowed(_ kind: ClusterCalls.Failure.Kind, after loss: ClusterLosses.Loss) -> Bool {
        switch kind {
        // The contract's answer to an upload whose first try has not ended.
        case .unavailable, .underWay: true
        // What is sent in pieces can only break off when the database or the store is lost.
        case .brokenOff: true
        // A client has no connection to other hosts. What it is cut off from is a proxy, or a process in mid-answer.
        case .cut: loss.takesEdge || loss.takesApp
        // No client of the soak sends too much, and 5xx other than 503 means a defect.
        case .busy, .wrong: false
        }
    }

    private static func lateness(of line: Line) -> [String] {
        [
            (line.lastBegin, maxBegin, "a call that failed began"), (line.lastEnd, maxEnd, "a call that failed ended"),
            (line.lastUnderWay, maxUnderWay, "an upload was under way"),
        ].filter { $0.0 > $0.1 }.map { "\(line.loss.what): \($0.2) after \(String(format: "%.1f", $0.0)) s" }
    }

    /// A lost proxy may be gone until everything is in place again.
    private static func absence(of line: Line) -> [String] {
        guard let end = line.loss.end, line.lastBegin > end.timeIntervalSince(line.loss.time) else { return [] }
        return ["\(line.loss.what): a proxy did not answer after everything was in place again"]
    }
}
