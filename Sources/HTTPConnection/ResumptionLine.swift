import NIOCore

/// The connections of one event loop whose clients have more requests in line than are parsed.
///
/// They take turns, a few every moment. An event loop runs all tasks that are due before it looks at its sockets. So
/// clients that send without end would keep it from all others.
final class ResumptionLine {
    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<() -> Void>()
    private var isScheduled = false

    /// How many requests are parsed in a turn.
    static let turnCount = 8
    /// How long it is from one turn to the next: several times as long as those requests take.
    static let pause: TimeAmount = .milliseconds(2)

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Waits for a turn, which parses one request and may ask for another turn.
    func wait(_ resume: @escaping () -> Void) {
        waiting.append(resume)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.pause) { bound.value.takeTurn() }
    }

    private func takeTurn() {
        for _ in 0..<Self.turnCount {
            guard let resume = waiting.popFirst() else { break }
            resume()
        }
        isScheduled = false
        schedule()
    }
}
