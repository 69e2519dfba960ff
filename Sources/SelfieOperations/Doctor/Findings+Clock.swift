import FoundationEssentials

extension Findings {
    static let clockRemedy = "Let the network set the clock: timedatectl set-ntp true. See docs/operations.md#clocks."
    /// S3 refuses requests that are further off.
    private static let failingSeconds: TimeInterval = 15 * 60

    /// Compares another clock with ours.
    ///
    /// - Parameters:
    ///   - name: The other clock, as the beginning of a sentence.
    ///   - remote: The time on it.
    ///   - sent: Our time before it was asked.
    ///   - received: Our time after it answered.
    ///   - precision: The resolution of the other clock, in seconds.
    ///   - maxSeconds: A difference beyond this is a warning.
    func clock(
        _ name: String,
        at remote: Date,
        sent: Date,
        received: Date,
        precision: TimeInterval = 0,
        maxSeconds: TimeInterval
    ) {
        // The other clock was read at some time between the two, so a time between them is no difference.
        let (earliest, latest) = (remote.timeIntervalSince(received), remote.timeIntervalSince(sent) + precision)
        let size = max(earliest, -latest, 0)
        guard size > maxSeconds else {
            return ok("\(name) and ours agree\(size >= 1 ? " within \(Int(size.rounded(.up))) seconds" : "")")
        }
        let whole = Int(min(size.rounded(), 1e12))
        let text = whole < 120 ? "\(whole) seconds" : whole < 7_200 ? "\(whole / 60) minutes" : "\(whole / 3_600) hours"
        let cause = "\(name) is \(text) \(earliest > 0 ? "ahead of" : "behind") ours"
        size > Self.failingSeconds ? failed(cause, Self.clockRemedy) : warning(cause, Self.clockRemedy)
    }
}
