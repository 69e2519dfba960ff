import CoreMetrics
import Metrics
import NIOConcurrencyHelpers

/// Reads from a standby, or says that the primary must be asked.
///
/// A standby may be behind, busy or gone at any time. That is no error of the reader's.
///
/// - `postgres_standby_reads`, a counter with the dimension `result`: `answered`, `behind`, `failed`, or `skipped` while the
///   standby is not asked after a failure.
final class StandbyReader: Sendable {
    let client: PostgresClient
    private let health: NIOLockedValueBox<BackOff>
    private let counters: [Result: Counter]

    private enum Result: String, CaseIterable { case answered, behind, failed, skipped }

    /// The longest pause after a failure, in which the standby is not asked.
    private static let maxPause: Duration = .seconds(5)

    init(_ configuration: PostgresConfiguration) {
        client = PostgresClient(configuration: configuration)
        health = NIOLockedValueBox(BackOff(longest: Self.maxPause))
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
        guard mayAsk() else { return counted(nil, .skipped) }
        do throws(PostgresError) {
            let rows = try await client.read(position.checked(query), name: name)
            health.withLockedValue { $0.reset() }
            guard let rows = try ReadPosition.rows(rows) else { return counted(nil, .behind) }
            return counted(rows, .answered)
        } catch {
            // A reader who has left says nothing about the standby.
            guard case .cancelled = error else {
                health.withLockedValue { $0.failed(now: .now, jitter: .random(in: 0...1)) }
                return counted(nil, .failed)
            }
            return nil
        }
    }

    /// Whether the standby is asked.
    ///
    /// After a failure, one reader at a time finds out whether it is back. The others do not wait for that.
    private func mayAsk() -> Bool {
        health.withLockedValue { health in
            guard health.allowsAttempt(now: .now) else { return false }
            if health.isFailing { health.failed(now: .now, jitter: .random(in: 0...1)) }
            return true
        }
    }

    private func counted(_ rows: PostgresRows?, _ result: Result) -> PostgresRows? {
        counters[result]?.increment()
        return rows
    }
}
