import CoreMetrics
import Metrics
import NIOConcurrencyHelpers

/// Reads from a standby, or says that the primary must be asked.
///
/// A standby may be behind, busy or gone at any time. That is no error of the reader's. A standby that is busy or gone is not
/// asked for a while, see ``StandbyHealth``.
///
/// - `postgres_standby_reads`, a counter with the dimension `result`: `answered`, `behind`, `failed`, or `skipped` while the
///   standby is not asked after a failure.
final class StandbyReader: Sendable {
    let client: PostgresClient
    private let health = NIOLockedValueBox(StandbyHealth())
    private let counters: [Result: Counter]

    private enum Result: String, CaseIterable { case answered, behind, failed, skipped }

    init(_ configuration: PostgresConfiguration) {
        client = PostgresClient(configuration: configuration)
        let metrics = configuration.metrics ?? NOOPMetricsHandler.instance
        counters = Dictionary(
            uniqueKeysWithValues: Result.allCases.map { result in
                let dimensions = [("result", result.rawValue)]
                return (result, Counter(label: "postgres_standby_reads", dimensions: dimensions, factory: metrics))
            }
        )
    }

    /// The rows of a statement.
    ///
    /// - Parameters:
    ///   - query: A statement that only reads.
    ///   - position: What the standby must have replayed.
    ///   - name: What metrics and spans call it.
    /// - Returns: The rows; nil if the primary must be asked.
    func rows(_ query: PostgresQuery, after position: ReadPosition, name: String) async -> PostgresRows? {
        guard let attempt = health.withLockedValue({ $0.attempt(now: now) }) else { return counted(nil, .skipped) }
        do throws(PostgresError) {
            let rows = try await client.read(position.checked(query), name: name)
            health.withLockedValue { $0.answered() }
            guard let rows = try ReadPosition.rows(rows) else { return counted(nil, .behind) }
            return counted(rows, .answered)
        } catch {
            let isOutage = error.isOutage
            health.withLockedValue {
                $0.ended(attempt, isOutage: isOutage, now: now, jitter: .random(in: 0...1))
            }
            // A reader who has left says nothing about the standby.
            if case .cancelled = error { return nil }
            return counted(nil, .failed)
        }
    }

    /// The time of the client's own timers.
    private var now: ContinuousClock.Instant { client.pools[0].now }

    private func counted(_ rows: PostgresRows?, _ result: Result) -> PostgresRows? {
        counters[result]?.increment()
        return rows
    }
}

extension PostgresError {
    /// Whether the server is gone, busy or silent, rather than that it has refused one statement.
    fileprivate var isOutage: Bool {
        switch self {
        case .statementTimedOut(let isAnswered): !isAnswered
        case .server(let error): error.sqlState.isUnavailable && error.sqlState != .queryCanceled
        default: isUnavailable
        }
    }
}
