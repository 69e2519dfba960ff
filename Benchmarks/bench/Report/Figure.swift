/// A line of the table: the values of one figure.
struct Figure: Sendable {
    /// The name in `results.json`, which ends in the unit.
    let key: String
    let title: String
    /// One value for each round, or one for all; never empty.
    let values: [Double]
    /// The project's goal for it; nil if it has none.
    var goal: String?

    var median: Double { values.median ?? 0 }
}

extension [Double] {
    /// The middle value, or the mean of the two in the middle; nil if there is none.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
