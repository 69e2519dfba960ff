/// When readers are to be looked at although nothing has changed.
struct ChangeReminders {
    /// Who is due, by the number of the tick.
    private var due: [Int: [ObjectIdentifier]] = [:]
    private let start = ContinuousClock.now
    /// The first tick whose readers were not removed.
    private var next = 0

    /// How often the hub looks for readers whose time has come.
    ///
    /// A longer tick would wake many readers at once.
    static let tick: Duration = .milliseconds(20)

    /// Adds a reader.
    mutating func add(_ listener: ObjectIdentifier, at time: ContinuousClock.Instant) {
        due[max(number(of: time) + 1, next), default: []].append(listener)
    }

    /// Removes the readers whose time has come.
    mutating func removeDue(at time: ContinuousClock.Instant) -> [ObjectIdentifier] {
        let ticks = next..<max(next, number(of: time) + 1)
        next = ticks.upperBound
        return ticks.flatMap { due.removeValue(forKey: $0) ?? [] }
    }

    private func number(of time: ContinuousClock.Instant) -> Int {
        Int((time - start) / Self.tick)
    }
}
