import NIOCore
import Synchronization

/// The shared state of the connections of one event loop.
struct ConnectionLoop {
    /// Where they wait when their clients have more requests in line than are parsed.
    let line: ResumptionLine
    /// Has their limits checked.
    let wheel: TimingWheel
    /// Runs their tasks.
    let executor: EventLoopTaskExecutor

    init(_ eventLoop: any EventLoop, limits: ConnectionLimits) {
        line = ResumptionLine(eventLoop: eventLoop)
        wheel = TimingWheel(eventLoop: eventLoop, turn: limits.tick)
        executor = EventLoopTaskExecutor(eventLoop)
    }
}

/// The same for all event loops.
final class ConnectionLoops: Sendable {
    private let limits: ConnectionLimits
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<ConnectionLoop>]>([:])

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Returns the shared state of an event loop's connections; the loop calls this.
    func loop(of eventLoop: any EventLoop) -> ConnectionLoop {
        loops.withLock { loops in
            let id = ObjectIdentifier(eventLoop)
            if let loop = loops[id] { return loop }
            let loop = NIOLoopBound(ConnectionLoop(eventLoop, limits: limits), eventLoop: eventLoop)
            loops[id] = loop
            return loop
        }.value
    }
}
