package import SelfieCore

/// How many photos had each outcome.
package struct MeasureReport: Sendable {
    private var counts: [MeasurePhoto.Outcome: Int] = [:]

    /// The number of photos with an outcome.
    ///
    /// - Parameter outcome: The outcome.
    package internal(set) subscript(outcome: MeasurePhoto.Outcome) -> Int {
        get { counts[outcome] ?? 0 }
        set { counts[outcome] = newValue }
    }
}
