/// The items of one kind that can be sent when it is their turn, and what is known of the service's health.
///
/// An item that fails may be to blame, or the service. So after some failures, one item behind it is tried at once. If that one
/// arrives, the first has failed by itself, and lets others pass. If it fails as well, all wait, and the order stays.
struct OutboxLane: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The items' numbers, the smallest first.
    private(set) var numbers: [Int] = []
    /// How many tries have failed since one succeeded.
    private(set) var failures = 0
    private(set) var pausedUntil: Instant?
    /// When the service wants to hear of the lane again.
    ///
    /// Nothing of ours makes that earlier.
    private(set) var servicePause: Instant?
    /// An item that has failed several times, while another one is tried; and when it is tried again if it is to blame.
    private(set) var suspect: (number: Int, notBefore: Instant)?

    mutating func insert(_ number: Int) {
        let position = position(of: number)
        guard position == numbers.count || numbers[position] != number else { return }
        numbers.insert(number, at: position)
    }

    mutating func remove(_ number: Int) {
        let position = position(of: number)
        if position < numbers.count, numbers[position] == number { numbers.remove(at: position) }
        if suspect?.number == number { suspect = nil }
    }

    /// How many numbers are smaller.
    private func position(of number: Int) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// When it may be looked at again; nil for now.
    func pauseEnd(after now: Instant) -> Instant? {
        [pausedUntil, servicePause].compactMap(\.self).filter { $0 > now }.max()
    }

    /// The service has answered about an item.
    ///
    /// - Parameter number: The item.
    /// - Returns: The item that has failed by itself, and when to try it again.
    mutating func hasWorked(_ number: Int) -> (number: Int, notBefore: Instant)? {
        (failures, pausedUntil) = (0, nil)
        defer { suspect = nil }
        return suspect.flatMap { $0.number == number ? nil : $0 }
    }

    /// A try has failed, and it is not known why.
    ///
    /// - Parameters:
    ///   - number: The item.
    ///   - isSuspicious: Whether it alone may be to blame, and others could be tried.
    ///   - pause: How long the lane waits.
    ///   - ownPause: How long the item waits if it is to blame.
    ///   - now: The time.
    mutating func hasFailed(_ number: Int, isSuspicious: Bool, pause: Duration, ownPause: Duration, at now: Instant) {
        failures += 1
        if suspect == nil, isSuspicious {
            suspect = (number, now + ownPause)
        } else {
            (suspect, pausedUntil) = (nil, now + pause)
        }
    }

    /// The service wants to hear of no item for a while.
    mutating func pause(until date: Instant) { servicePause = max(servicePause ?? date, date) }

    /// Looks again at once, from the first item on.
    mutating func hurry() { (failures, pausedUntil, suspect) = (0, nil, nil) }
}
