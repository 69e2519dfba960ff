/// The clock of deadlines and pauses.
///
/// Nobody can set it back. It is the system's, or one that a test moves.
package protocol MonotonicClock: Clock<Duration> where Instant == ContinuousClock.Instant {}

extension ContinuousClock: MonotonicClock {}
