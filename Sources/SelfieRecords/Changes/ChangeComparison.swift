/// What the database says of the streams that readers of a process follow, and of some of these readers.
struct ChangeComparison: Sendable {
    let epoch: ChangeEpoch
    /// Those of the streams that are still there.
    let streams: [Int: ChangeCursor.Check.Stream]
    /// The next changes, by stream.
    let changes: [Int: [Change]]
    /// The readers whose session has ended, and those who have read with other roles or in another epoch.
    let outdatedReaders: Set<ChangeListener>
}
