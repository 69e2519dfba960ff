import FoundationEssentials

/// How far another clock is from ours.
struct ClockSkew: Sendable {
    /// Positive when the other clock is ahead.
    let seconds: TimeInterval

    static let remedy = """
        Have the clock set by the network: on Linux `timedatectl set-ntp true`, or install chrony; a container has its \
        machine's clock. `timedatectl status` shows whether it worked.
        """

    /// - Parameters:
    ///   - remote: The time on the other clock.
    ///   - before: Our time before it was asked.
    ///   - after: Our time after it answered.
    ///   - precision: The resolution of the other clock, in seconds.
    init(remote: Date, before: Date, after: Date, precision: TimeInterval) {
        // The other clock was read at some time between the two. A time between them is no difference.
        let (earliest, latest) = (remote.timeIntervalSince(after), remote.timeIntervalSince(before) + precision)
        seconds = earliest > 0 ? earliest : latest < 0 ? latest : 0
    }

    func report(
        _ name: String,
        to findings: Findings,
        maxSeconds: TimeInterval,
        failingSeconds: TimeInterval,
        advice: () -> String
    ) {
        let size = abs(seconds)
        guard size > maxSeconds else {
            return findings.ok("\(name) and ours agree\(size >= 1 ? " within \(Int(size.rounded(.up))) seconds" : "")")
        }
        let text = "\(name) is \(Self.text(size)) \(seconds > 0 ? "ahead of" : "behind") ours"
        if size > failingSeconds { findings.failed(text, advice()) } else { findings.warning(text, advice()) }
    }

    private static func text(_ seconds: TimeInterval) -> String {
        let whole = Int(min(seconds.rounded(), 1e12))
        return whole < 120 ? "\(whole) seconds" : whole < 7_200 ? "\(whole / 60) minutes" : "\(whole / 3_600) hours"
    }
}
