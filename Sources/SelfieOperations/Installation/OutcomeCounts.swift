/// How many photos had each outcome.
package struct OutcomeCounts<Outcome: Hashable & Sendable>: Sendable {
    private var counts: [Outcome: Int] = [:]

    /// The number of photos with an outcome.
    ///
    /// - Parameter outcome: The outcome.
    package internal(set) subscript(outcome: Outcome) -> Int {
        get { counts[outcome] ?? 0 }
        set { counts[outcome] = newValue }
    }
}
