/// A load generator's figures of a server.
struct LoadFigures: Codable, Sendable, Equatable {
    let requestsPerSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    let requestCount: Int
    /// Answers with a status of 400 or more.
    let badAnswerCount: Int
    /// Connections that could not be made, were broken, or waited too long for an answer.
    let socketErrorCount: Int

    var failureCount: Int { badAnswerCount + socketErrorCount }
}

/// How long something took.
struct TimeFigures: Codable, Sendable, Equatable {
    let p50Milliseconds: Double
    let p99Milliseconds: Double

    /// - Parameter times: Each time; at least one.
    init(_ times: [Duration]) {
        let sorted = times.map { $0 / .milliseconds(1) }.sorted()
        (p50Milliseconds, p99Milliseconds) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    }
}

/// pgbench's figures of PostgreSQL.
struct DatabaseFigures: Codable, Sendable, Equatable {
    let transactionsPerSecond: Double
    let averageMilliseconds: Double
    let transactionCount: Int
}

/// The bytes that arrived, and the time.
struct TransferFigures: Codable, Sendable, Equatable {
    let bytesPerSecond: Double
    let count: Int
    /// Uploads that were not answered with success.
    let failureCount: Int
}
