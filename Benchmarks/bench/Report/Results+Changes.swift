extension Results {
    /// The ratios of the feed.
    var changeRatios: [Figure] {
        let changes = rounds.map(\.changes)
        return [
            ratio(
                "newRecordWithBellToWithoutRatio",
                "New record with notifications to without, a second, 16 connections",
                goal: "0.80 or more",
                changes.map { $0.creations.requestsPerSecond / $0.silentCreations.requestsPerSecond }
            ),
            ratio(
                "eventToNotificationP50Ratio",
                "Write's answer to event at another process, to PostgreSQL's write to notification, p50",
                goal: "5 or less",
                changes.map { $0.events.p50Milliseconds / $0.notifications.p50Milliseconds }
            ),
            ratio(
                "eventToNotificationP99Ratio",
                "The same, p99",
                goal: "10 or less",
                changes.map { $0.events.p99Milliseconds / $0.notifications.p99Milliseconds }
            ),
            ratio(
                "fanOutToRawRatio",
                "One change to 10,000 streams, to the same bytes to 10,000 sockets, time",
                goal: "3 or less",
                changes.map { $0.fanOut.p50Milliseconds / $0.rawFanOut.p50Milliseconds }
            ),
            ratio(
                "streamToIdleMemoryRatio",
                "Memory of an idle stream to an idle connection",
                goal: "1.5 or less",
                changes.map { $0.kibibytesPerStream / $0.kibibytesPerIdleConnection }
            ),
            ratio(
                "kibibytesPerStream",
                "Memory of an idle stream, KiB",
                goal: "30 or less",
                changes.map(\.kibibytesPerStream)
            ),
            ratio(
                "listP99BesideFewerStreamsToAloneRatio",
                "List, p99, beside 5,000 streams to without",
                goal: "1.5 or less",
                changes.map { $0.listBesideFewerStreams.p99Milliseconds / $0.listAlone.p99Milliseconds }
            ),
            ratio(
                "listP99BesideBothToBesideWritesRatio",
                "List, p99, beside 10,000 streams and 300 writes a second to without streams",
                goal: "1.5 or less",
                changes.map { $0.listBesideBoth.p99Milliseconds / $0.listBesideWrites.p99Milliseconds }
            ),
            ratio(
                "listP99BesideBothToAloneRatio",
                "The same, to without streams and without writes",
                goal: "1.5 or less",
                changes.map { $0.listBesideBoth.p99Milliseconds / $0.listAlone.p99Milliseconds }
            ),
        ]
    }

    /// The figures of the feed.
    var changeFigures: [Figure] {
        let changes = rounds.map(\.changes)
        return load("newRecordWithBell", "New record with notifications, 16 connections", changes.map(\.creations))
            + load(
                "newRecordWithoutBell",
                "New record without notifications, 16 connections",
                changes.map(\.silentCreations)
            )
            + times("event", "Write's answer to event at another process", changes.map(\.events))
            + times("notification", "PostgreSQL's write to notification", changes.map(\.notifications))
            + times("fanOut", "Write to event at 10,000 streams", changes.map(\.fanOut))
            + times("rawFanOut", "The same bytes to 10,000 sockets", changes.map(\.rawFanOut))
            + [
                Figure(
                    key: "kibibytesPerIdleConnection",
                    title: "Memory of an idle connection: KiB",
                    values: changes.map(\.kibibytesPerIdleConnection)
                )
            ]
            + load("pacedList", "List, 4 connections, 10 ms after an answer", changes.map(\.listAlone))
            + load("pacedListBesideWrites", "The same beside writes", changes.map(\.listBesideWrites))
            + load(
                "pacedListBesideFewerStreams",
                "The same beside 5,000 streams",
                changes.map(\.listBesideFewerStreams)
            )
            + load("pacedListBesideBoth", "The same beside streams and writes", changes.map(\.listBesideBoth))
            + load("writesBesideList", "Writes beside lists", changes.map(\.writes))
            + load("writesBesideStreams", "Writes beside streams and lists", changes.map(\.writesBesideStreams))
    }

    private func times(_ key: String, _ title: String, _ figures: [TimeFigures]) -> [Figure] {
        [
            Figure(key: key + "P50Milliseconds", title: title + ": p50, ms", values: figures.map(\.p50Milliseconds)),
            Figure(key: key + "P99Milliseconds", title: title + ": p99, ms", values: figures.map(\.p99Milliseconds)),
        ]
    }
}
