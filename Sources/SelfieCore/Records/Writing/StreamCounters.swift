import RecordSchema

/// The counters of streams that are locked, and what the call makes of them.
struct StreamCounters {
    /// A stream's row.
    struct Counter: Equatable {
        /// The number of the last change.
        var number: Int
        /// How many records its user owns, deleted ones included while they are remembered.
        var recordCount: Int
        /// How many records wait in its user's inboxes.
        var inboxCount: Int
        /// The bytes of data that count for its user.
        var byteCount: Int
    }

    private(set) var counters: [Int: Counter]

    init(_ counters: [Int: Counter]) {
        self.counters = counters
    }

    /// Whether the stream is there: it goes with its user.
    func has(_ stream: Int) -> Bool { counters[stream] != nil }

    /// Takes the next number of a stream that is there.
    mutating func next(of stream: Int) -> Int {
        counters[stream]?.number += 1
        return counters[stream]?.number ?? 0
    }

    /// Counts a record that comes or goes.
    ///
    /// A record that goes is remembered for a while, and counts for its owner until then.
    ///
    /// - Parameters:
    ///   - change: 1 or -1.
    ///   - owner: The owner's stream.
    ///   - recipient: The stream of the member in whose inbox it is; nil for other records.
    /// - Throws: `RecordRefusal` when there is no room.
    mutating func count(_ change: Int, owner: Int, recipient: Int?) throws(RecordRefusal) {
        if let recipient { counters[recipient]?.inboxCount += change }
        guard change > 0 else { return }
        counters[owner]?.recordCount += change
        if let recipient, let counter = counters[recipient], counter.inboxCount > RecordLimits.maxInboxCount {
            throw RecordRefusal(.inboxFull)
        }
        if let counter = counters[owner], counter.recordCount > RecordLimits.maxCountPerUser {
            throw RecordRefusal(.noRoom)
        }
    }

    /// Counts bytes that come or go.
    ///
    /// - Parameters:
    ///   - change: How many come; negative when they go.
    ///   - stream: The stream of the user whom they count for.
    ///   - limit: The most bytes of a user; nil for none.
    /// - Throws: `RecordRefusal` when there is no room for more.
    mutating func count(bytes change: Int, for stream: Int, within limit: Int?) throws(RecordRefusal) {
        counters[stream]?.byteCount += change
        if let limit, change > 0, let counter = counters[stream], counter.byteCount > limit {
            throw RecordRefusal(.noBytes(max: limit))
        }
    }
}
