/// A line of a table: a value for each round, or one for all rounds.
struct ResultRow: Sendable {
    /// The name in `results.json`, which ends in the unit.
    let key: String
    let title: String
    /// Empty if it was not measured.
    var values: [Double]
    /// The project's goal for it; nil if it has none.
    var goal: String?

    var median: Double? { values.median }
}

extension [Double] {
    /// The middle value, or the mean of the two in the middle; nil if there is none.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
