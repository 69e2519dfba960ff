/// The clock of deadlines and pauses.
///
/// It can't be set back. It is the system's, or one that a test moves.
package protocol MonotonicClock: Clock<Duration> where Instant == ContinuousClock.Instant {}

extension ContinuousClock: MonotonicClock {}
