extension ChangeCursor {
    /// The state of a cursor's streams in the database.
    struct Check: Sendable {
        let epoch: ChangeEpoch
        /// The streams that the reader has now.
        let streams: [Int: Stream]

        struct Stream: Sendable {
            let end: StreamEnd
            /// Whether the database no longer has the end that the cursor knows.
            let isLost: Bool
            /// The last number up to which changes were deleted.
            let forgotten: Int
            /// Where the reader is once it has received the changes that came with this.
            let reached: Int
        }
    }

    /// Requires that nothing can have been missed from here on.
    ///
    /// After a restore, the stream's end at the time of the reading counts, and not the number that the client has
    /// reached. A record that had moved to the end may be back at a position that the client has passed.
    func require(_ check: Check, filter: Int?) throws(ChangeReset) {
        guard epoch.database == check.epoch.database else { throw .database }
        guard filter == self.filter else { throw .collections }
        guard epoch.clearedVersion == check.epoch.clearedVersion else { throw .access }
        let seen = positions.filter { $0.value.number > 0 }
        if seen.keys.contains(where: { check.streams[$0]?.isLost == true }) { throw .database }
        guard seen.keys.allSatisfy({ check.streams[$0] != nil }) else { throw .access }
        for (stream, position) in seen {
            let forgotten = check.streams[stream]?.forgotten ?? 0
            guard max(position.number, begun(in: stream)) >= forgotten else { throw .forgotten }
        }
    }
}
