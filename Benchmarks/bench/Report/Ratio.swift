/// A ratio of two rows of the same round, and the project's goal for it.
struct Ratio: Sendable {
    let key: String
    let title: String
    let goal: String
    /// The keys of the rows.
    let numerator: String
    /// nil for a row that has a goal of its own.
    let denominator: String?

    private init(_ key: String, _ title: String, goal: String, _ numerator: String, to denominator: String? = nil) {
        self.key = key
        self.title = title
        self.goal = goal
        self.numerator = numerator
        self.denominator = denominator
    }

    /// The ratio of each round.
    ///
    /// - Parameter values: The values of rows by key, one for each round.
    /// - Returns: The ratio's row, without values if one of the two was not measured in each round.
    func row(_ values: [String: [Double]]) -> ResultRow {
        let above = values[numerator] ?? []
        let below = denominator.map { values[$0] ?? [] } ?? above.map { _ in 1 }
        let quotients = above.count == below.count ? zip(above, below).map { $0 / $1 } : []
        return ResultRow(key: key, title: title, values: quotients, goal: goal)
    }

    /// All ratios, in the order of the report.
    static let all = [
        Ratio(
            "listToPgbenchAt16Ratio",
            "List to pgbench, requests/s, 16 connections",
            goal: "0.50 or more",
            "listAt16RequestsPerSecond",
            to: "pgbenchAt16TransactionsPerSecond"
        ),
        Ratio(
            "listP99ToP50At16Ratio",
            "List, p99 to p50, 16 connections",
            goal: "4 or less",
            "listAt16P99Milliseconds",
            to: "listAt16P50Milliseconds"
        ),
        Ratio(
            "listAt256ToAt16Ratio",
            "List, requests/s, 256 to 16 connections",
            goal: "0.8 or more",
            "listAt256RequestsPerSecond",
            to: "listAt16RequestsPerSecond"
        ),
        Ratio(
            "emptyListToWelcomeAt16Ratio",
            "Empty list to GET /, requests/s, 16 connections",
            goal: "0.55 or more",
            "emptyListAt16RequestsPerSecond",
            to: "welcomeAt16RequestsPerSecond"
        ),
        Ratio(
            "unchangedLongListToListAt16Ratio",
            "Unchanged list of 10,000 photos to the list of 20, requests/s, 16 connections",
            goal: "0.5 or more",
            "unchangedLongListAt16RequestsPerSecond",
            to: "listAt16RequestsPerSecond"
        ),
        Ratio(
            "listBesideProbesToAloneRatio",
            "List with 1,000 probes a second to without, requests/s, 16 connections",
            goal: "0.90 or more",
            "listBesideProbesRequestsPerSecond",
            to: "listAt16RequestsPerSecond"
        ),
        Ratio(
            "newRecordToPgbenchRatio",
            "New record with two readers to pgbench with the same statements, a second, 16 connections",
            goal: "0.30 or more",
            "newRecordRequestsPerSecond",
            to: "newRecordByPgbenchTransactionsPerSecond"
        ),
        Ratio(
            "pageOfManyToFewTimeRatio",
            "50 records of 1,000,000 to 50 of 100, time, 4 connections",
            goal: "1.3 or less",
            // Times are the other way round than rates.
            "pageOfFewRequestsPerSecond",
            to: "pageOfManyRequestsPerSecond"
        ),
        Ratio(
            "newRecordWithNotificationsToWithoutRatio",
            "New record with notifications to without, a second, 16 connections",
            goal: "0.80 or more",
            "newRecordWithNotificationsRequestsPerSecond",
            to: "newRecordWithoutNotificationsRequestsPerSecond"
        ),
        Ratio(
            "eventToNotificationP50Ratio",
            "From a write's answer to its event at another process, to PostgreSQL's notification, p50",
            goal: "5 or less",
            "eventP50Milliseconds",
            to: "notificationP50Milliseconds"
        ),
        Ratio(
            "eventToNotificationP99Ratio",
            "The same, p99",
            goal: "10 or less",
            "eventP99Milliseconds",
            to: "notificationP99Milliseconds"
        ),
        Ratio(
            "fanOutToRawRatio",
            "One change to 10,000 streams, to the same bytes to 10,000 sockets, time",
            goal: "3 or less",
            "fanOutP50Milliseconds",
            to: "rawFanOutP50Milliseconds"
        ),
        Ratio(
            "streamToIdleMemoryRatio",
            "Memory of an idle stream to an idle connection",
            goal: "1.5 or less",
            "kibibytesPerStream",
            to: "kibibytesPerIdleConnection"
        ),
        Ratio(
            "kibibytesPerStream",
            "Memory of an idle stream, KiB",
            goal: "30 or less",
            "kibibytesPerStream"
        ),
        Ratio(
            "listP99BesideFewerStreamsToAloneRatio",
            "List, p99, with 5,000 streams to without",
            goal: "1.5 or less",
            "pacedListBesideFewerStreamsP99Milliseconds",
            to: "pacedListP99Milliseconds"
        ),
        Ratio(
            "listP99BesideBothToBesideWritesRatio",
            "List, p99, with 10,000 streams and 300 writes a second to without streams",
            goal: "1.5 or less",
            "pacedListBesideBothP99Milliseconds",
            to: "pacedListBesideWritesP99Milliseconds"
        ),
        Ratio(
            "listP99BesideBothToAloneRatio",
            "The same, to without streams and without writes",
            goal: "1.5 or less",
            "pacedListBesideBothP99Milliseconds",
            to: "pacedListP99Milliseconds"
        ),
        Ratio(
            "uploadToDirectPutRatio",
            "Uploads to direct puts of 20 MB, bytes/s, 8 in parallel",
            goal: "0.75 or more",
            "uploadMegabytesPerSecond",
            to: "directPutMegabytesPerSecond"
        ),
        Ratio(
            "proxyToPresignedRatio",
            "Photos of 20 MB by proxy to presigned, bytes/s, 8 connections",
            goal: "0.70 or more",
            "proxiedRequestsPerSecond",
            to: "presignedRequestsPerSecond"
        ),
        Ratio(
            "diskToNginxRatio",
            "Photos of 300 KB from disk to nginx, requests/s, 8 connections",
            goal: "0.55 or more",
            "fromDiskRequestsPerSecond",
            to: "byNginxRequestsPerSecond"
        ),
        Ratio(
            "listP99BesideSignInsToAloneRatio",
            "List, p99, with sign-ins to without",
            goal: "3 or less",
            "listBesideSignInsP99Milliseconds",
            to: "listAloneP99Milliseconds"
        ),
    ]
}
