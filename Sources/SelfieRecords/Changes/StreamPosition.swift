/// A stream as a statement found it, and where its reader is.
struct StreamPosition: Sendable, Equatable {
    let stream: Int
    /// The number of the last change.
    let last: Int
    /// The last number that no older state of the database has given again since the cursor.
    let lastCommon: Int
    /// The last number up to which something was forgotten.
    let forgotten: Int
    /// Where the reader is once it has got the changes that came with this.
    let reached: Int
}

extension ChangeCursor {
    /// What the database says of a cursor.
    struct Check: Sendable {
        /// The mark that new cursors get.
        let mark: Int
        let clearedVersion: Int
        /// Whether the database had the start that the cursor was given out under, and is the same: cluster, timeline,
        /// database and table.
        let isSameDatabase: Bool
        /// The streams that the reader has now.
        let streams: [StreamPosition]
    }

    /// Tells whether nothing can have been missed from here on.
    ///
    /// A restored backup takes numbers anew. PostgreSQL must have been started for that. So each stream keeps the numbers that
    /// it had at its last starts. A cursor of an earlier start that is beyond such a number comes from changes that were lost.
    /// So does one whose backlog is: what had moved to its end may be back at a place that the client has passed.
    ///
    /// - Parameters:
    ///   - check: What the database says.
    ///   - filter: The collections that are asked for.
    /// - Throws: `ChangeReset`.
    func check(_ check: Check, filter: Int) throws(ChangeReset) {
        guard check.isSameDatabase else { throw .database }
        guard filter == self.filter else { throw .collections }
        guard clearedVersion == check.clearedVersion else { throw .access }
        var rest = positions.filter { $0.value > 0 }
        for stream in check.streams {
            guard let position = rest.removeValue(forKey: stream.stream) else { continue }
            guard max(position, last(of: stream.stream)) <= stream.lastCommon else { throw .database }
            guard max(position, begun(stream.stream)) >= stream.forgotten else { throw .forgotten }
        }
        guard rest.isEmpty else { throw .access }
    }
}
