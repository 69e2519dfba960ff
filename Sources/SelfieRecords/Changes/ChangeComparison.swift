/// The state of followed streams and of some of their readers, in the database.
struct ChangeComparison: Sendable {
    let epoch: ChangeEpoch
    /// The streams that still exist.
    let streams: [Int: ChangeCursor.Check.Stream]
    /// The next changes, by stream.
    let changes: [Int: [Change]]
    /// The readers whose session has ended, and those who have read with other roles or in another epoch.
    let outdatedReaders: Set<ChangeListener>
}
