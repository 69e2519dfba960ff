/// A stream as a statement found it, and where its reader is.
struct StreamPosition: Sendable, Equatable {
    let stream: Int
    /// The number of the last change.
    let last: Int
    /// The last number up to which something was forgotten.
    let forgotten: Int
    /// The number of the start of PostgreSQL under which it was last changed; 0 for none that is known.
    let start: Int
    /// The number of the last change before that start.
    let lastBeforeStart: Int
    /// The start under which it was changed before.
    let previousStart: Int
    /// Where the reader is once it has got the changes that came with this.
    let reached: Int
}

extension ChangeCursor {
    /// What the database says of a cursor.
    struct Check: Sendable {
        /// The mark that new cursors get.
        let mark: Int
        let clearedVersion: Int
        /// The number of the start that the cursor was given out under; nil for one that this database never had.
        let cursorStart: Int?
        /// Whether it is the same database as then: cluster, timeline and table.
        let isSameDatabase: Bool
        /// The streams that the reader has now.
        let streams: [StreamPosition]
    }

    /// Tells whether nothing can have been missed from here on.
    ///
    /// A restored backup takes numbers anew. PostgreSQL must have been started for that. So each stream keeps the last number
    /// from before the present start. A cursor of an earlier start that is beyond it comes from changes that were lost.
    ///
    /// - Parameters:
    ///   - check: What the database says.
    ///   - filter: The collections that are asked for.
    /// - Throws: `ChangeReset`.
    func check(_ check: Check, filter: Int) throws(ChangeReset) {
        guard filter == self.filter else { throw .collections }
        guard let cursorStart = check.cursorStart, check.isSameDatabase else { throw .database }
        guard clearedVersion == check.clearedVersion else { throw .access }
        var rest = positions.filter { $0.value > 0 }
        for stream in check.streams {
            guard let position = rest.removeValue(forKey: stream.stream) else { continue }
            guard position <= stream.last else { throw .database }
            if cursorStart < stream.start {
                guard cursorStart >= stream.previousStart, position <= stream.lastBeforeStart else { throw .database }
            }
            guard position >= stream.forgotten else { throw .forgotten }
        }
        guard rest.isEmpty else { throw .access }
    }
}
