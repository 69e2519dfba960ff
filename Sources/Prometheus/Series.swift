import CoreMetrics
import Synchronization

/// A number that only grows.
final class CounterSeries: CounterHandler, FloatingPointCounterHandler {
    private let number = Mutex(0.0)

    var value: Double { number.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func reset() { number.withLock { $0 = 0 } }
}

/// A number that goes up and down.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let number = Mutex(0.0)

    var value: Double { number.withLock { $0 } }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
}

/// How often a number was within which bounds.
final class HistogramSeries: RecorderHandler, TimerHandler {
    struct Value {
        /// How often it was at most each bound, and more than the one before; the last is for what is beyond all.
        var buckets = [UInt64](repeating: 0, count: HistogramSeries.bounds.count + 1)
        var sum = 0.0
    }

    /// In seconds: from a look-up in memory to the end of a router's patience.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    private static let nanosecondsPerSecond = 1e9

    private let state = Mutex(Value())

    var value: Value { state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / Self.nanosecondsPerSecond) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let index = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.buckets[index] += 1
            state.sum += value
        }
    }
}
