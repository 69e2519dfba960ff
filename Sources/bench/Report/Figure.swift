/// A line of the table: a figure, as often as it was measured.
struct Figure: Sendable {
    /// The name in `results.json`, which ends in the unit.
    let key: String
    let title: String
    /// One of each round, or one; never none.
    let values: [Double]
    /// What the project wants of it; nil for a figure without a goal.
    var goal: String?

    var median: Double { values.median ?? 0 }
}

extension [Double] {
    /// The middle one, or the mean of the two in the middle; nil of none.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
