import NIOCore

/// Has the limits of an event loop's connections checked, each equally often, and a few of them every moment.
///
/// A timer of its own would take a KiB of each connection. The timers of thousands that came together would be due together.
final class TimingWheel {
    private typealias Slot = [ObjectIdentifier: () -> Void]

    private let eventLoop: any EventLoop
    /// The time between two slots.
    private let pause: TimeAmount
    private var slots: [Slot]
    /// The slot that is due next, and when.
    private var (next, due): (Int, NIODeadline) = (0, .distantPast)
    private var count = 0
    /// How many were added since the wheel was empty, so that each gets another slot.
    private var addedCount = 0
    private var isScheduled = false

    /// Whether nothing is to be checked, so that no time is spent.
    var isResting: Bool { !isScheduled }

    /// The time between two slots, but for a turn that is shorter.
    private static let usualPause: TimeAmount = .milliseconds(50)

    /// A turn is the time from one check to the next of the same connection.
    init(eventLoop: any EventLoop, turn: TimeAmount) {
        self.eventLoop = eventLoop
        let slotCount = max(1, turn.nanoseconds / Self.usualPause.nanoseconds)
        pause = .nanoseconds(turn.nanoseconds / slotCount)
        slots = Array(repeating: [:], count: Int(slotCount))
    }

    /// Calls `check` once each turn, the first time within a turn from now, until it is removed.
    ///
    /// A check may remove any. The slot is for ``remove(_:from:)``.
    func add(_ owner: AnyObject, check: @escaping () -> Void) -> Int {
        let slot = (next + slots.count - 1 - addedCount % slots.count) % slots.count
        slots[slot][ObjectIdentifier(owner)] = check
        addedCount += 1
        count += 1
        if !isScheduled { schedule(at: eventLoop.now + pause) }
        return slot
    }

    /// Stops calling an owner's check.
    func remove(_ owner: AnyObject, from slot: Int) {
        if slots[slot].removeValue(forKey: ObjectIdentifier(owner)) != nil { count -= 1 }
    }

    private func schedule(at time: NIODeadline) {
        isScheduled = true
        due = time
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(deadline: time) { bound.value.checkSlot() }
    }

    private func checkSlot() {
        let slot = next
        next = (next + 1) % slots.count
        for owner in slots[slot].keys { slots[slot][owner]?() }
        guard count > 0 else {
            (isScheduled, addedCount) = (false, 0)
            return
        }
        // After a long stop, a turn begins anew: what is due all at once would keep others waiting.
        schedule(at: max(due + pause, eventLoop.now))
    }
}
