/// How many objects one call deletes: as many as the store deletes within about two seconds.
///
/// It does no I/O. OpenStack Swift takes 27 ms for each object; AWS takes less than one.
struct DeletionBatch: Sendable, Hashable {
    /// How many objects the next call deletes: 10 to 1,000.
    private(set) var count = 100

    /// AWS takes no more at once ("DeleteObjects").
    private static let counts = 10...1_000
    private static let wanted: Duration = .seconds(2)
    /// How many times as large the next batch may be.
    private static let maxGrowth = 2

    /// Learns from a call.
    ///
    /// - Parameters:
    ///   - deleted: How many objects it deleted, at least one.
    ///   - duration: How long it took.
    ///   - succeeded: Whether it did. The time of a call that failed early does not count.
    mutating func note(count deleted: Int, took duration: Duration, succeeded: Bool) {
        // A small call that is quick shows the way to the store more than its speed.
        guard duration > Self.wanted || succeeded && deleted >= count else { return }
        let perObject = max(duration, .microseconds(1)) / deleted
        let fitting = Int(min(Self.wanted / perObject, Double(Self.counts.upperBound)))
        if fitting < count {
            count = max(fitting, Self.counts.lowerBound)
        } else if succeeded {
            count = min(fitting, count * Self.maxGrowth)
        }
    }
}
