import CLibCurl
import Concurrency
import DequeModule

/// Calls libcurl for one client, on the thread that watches sockets.
actor CurlDriver {
    nonisolated var unownedExecutor: UnownedSerialExecutor { WatcherExecutor.shared.asUnownedSerialExecutor() }

    private let configuration: CurlConfiguration
    /// Each has its own connections.
    ///
    /// One is used for new transfers. The others end with theirs.
    private var multis: [Int: MultiHandle] = [:]
    /// The one for new transfers.
    private var currentID = 0
    private var hosts: [String: HostQueue<ObjectIdentifier>] = [:]
    /// Transfers that wait for a connection.
    private var waiting: [ObjectIdentifier: Start] = [:]
    /// Transfers that have got a connection, and have not begun.
    private var ready: Deque<Start> = []
    private var running: [ObjectIdentifier: Running] = [:]
    private var timer: DeadlineTimer?
    private var nextLook: ContinuousClock.Instant?
    private var isClosed = false
    /// Itself, while it has something to do after its client has gone.
    private var itself: CurlDriver?

    private struct Start {
        let transfer: Transfer
        let host: String
        let trust: TrustStore?
        let began = ContinuousClock.now
    }

    private struct Running {
        let easy: EasyHandle
        let multiID: Int
        let start: Start
        /// Since when the bytes of its answer are waited for.
        var silentSince: ContinuousClock.Instant?
    }

    /// How often deadlines are looked at.
    private static let lookInterval: Duration = .milliseconds(100)

    init(_ configuration: CurlConfiguration) {
        self.configuration = configuration
    }

    // MARK: - For tasks

    /// Begins a transfer, or puts it in line.
    func start(_ transfer: Transfer, host: String, trust: TrustStore?) {
        guard !isClosed, !transfer.isOver else { return transfer.finish(.cancelled) }
        guard hasTimer() else { return transfer.finish(.noDescriptor) }
        let start = Start(transfer: transfer, host: host, trust: trust)
        let id = ObjectIdentifier(transfer)
        if hosts[host, default: HostQueue(limit: configuration.maxRequestsPerHost)].enter(id) {
            begin(start)
        } else {
            waiting[id] = start
        }
        arm()
    }

    /// Lets libcurl go on where it was paused.
    func resume(_ transfer: Transfer) {
        guard let running = running[ObjectIdentifier(transfer)], let multi = multis[running.multiID] else { return }
        multi.resume(running.easy)
        work(running.multiID)
        arm()
    }

    /// Ends a transfer that nobody waits for any more.
    func abandon(_ transfer: Transfer) {
        let id = ObjectIdentifier(transfer)
        if let start = waiting[id] {
            leave(start)
        } else if let running = running[id] {
            end(running, .cancelled)
        } else if let index = ready.firstIndex(where: { $0.transfer === transfer }) {
            leave(ready.remove(at: index))
        }
        arm()
    }

    /// Ends all transfers, and closes all connections.
    ///
    /// The driver lives on until libcurl has resolved the names that it is resolving.
    func close() {
        isClosed = true
        itself = self
        for start in waiting.values { start.transfer.finish(.cancelled) }
        waiting = [:]
        for start in ready { start.transfer.finish(.cancelled) }
        ready = []
        for running in running.values { end(running, .cancelled) }
        look(.now)
        arm()
    }

    var transferCount: Int { running.count + waiting.count }

    // MARK: - The thread's work

    private func begin(_ start: Start) {
        do throws(CurlError) {
            let multi = try currentMulti()
            let easy = try EasyHandle(start.transfer, configuration: configuration, trust: start.trust)
            try multi.add(easy)
            running[ObjectIdentifier(start.transfer)] = Running(easy: easy, multiID: currentID, start: start)
            work(currentID)
        } catch {
            start.transfer.finish(error)
            leave(start)
        }
    }

    private func currentMulti() throws(CurlError) -> MultiHandle {
        if let multi = multis[currentID] { return multi }
        let id = currentID
        let multi = try MultiHandle(configuration) { [weak self] socket, events in
            self?.assumeIsolated { driver in
                driver.work(id, socket, events)
                driver.arm()
            }
        }
        multis[id] = multi
        return multi
    }

    /// Lets libcurl work, and passes on what comes of it.
    private func work(_ multiID: Int, _ socket: CInt? = nil, _ events: SocketWatcher.Events = []) {
        guard let multi = multis[multiID] else { return }
        for (easy, code) in multi.act(socket, events) {
            guard let running = running[ObjectIdentifier(easy.transfer)] else { continue }
            end(running, easy.failure(of: code), isComplete: true)
        }
        let touched = multi.touched
        multi.touched.removeAll(keepingCapacity: true)
        for (id, transfer) in touched {
            transfer.wake()
            // A refused body may be paused.
            if let easy = running[id]?.easy { multi.resume(easy) }
        }
    }

    private func end(_ running: Running, _ failure: CurlError?, isComplete: Bool = false) {
        running.start.transfer.finish(failure)
        // libcurl would wait for the thread that resolves the name. So the transfer stays until it has.
        if !isComplete, running.easy.isResolving { return running.easy.abandon() }
        multis[running.multiID]?.remove(running.easy)
        self.running[ObjectIdentifier(running.start.transfer)] = nil
        // After an error, a connection that others share is not to be trusted.
        if failure != nil, configuration.version == .http2, running.multiID == currentID { currentID += 1 }
        leave(running.start)
    }

    /// Gives a place in line, or a connection, to the next.
    private func leave(_ start: Start) {
        let id = ObjectIdentifier(start.transfer)
        waiting[id] = nil
        let next = hosts[start.host]?.leave(id)
        if hosts[start.host]?.isEmpty == true { hosts[start.host] = nil }
        if let next, let start = waiting.removeValue(forKey: next) { ready.append(start) }
    }

    // MARK: - Time

    private func timerFired() {
        timer?.fired()
        let now = ContinuousClock.now
        for (id, multi) in multis where multi.deadline.map({ $0 <= now }) == true { work(id) }
        if let nextLook, nextLook <= now { look(now) }
        arm()
    }

    /// Ends transfers whose time is over, and closes connections that were not used for long.
    private func look(_ now: ContinuousClock.Instant) {
        nextLook = nil
        for start in waiting.values where start.began.duration(to: now) > start.transfer.deadlines.connect {
            start.transfer.finish(.timedOut(.waiting))
            leave(start)
        }
        for (id, entry) in running {
            if entry.easy.isAbandoned {
                if !entry.easy.isResolving { end(entry, .cancelled) }
            } else if let failure = overdue(id, entry, now) {
                end(entry, failure)
            }
        }
        for (id, multi) in multis where multi.hasUnwatchedSockets { work(id) }
        for (id, multi) in multis {
            guard let idleSince = multi.idleSince else { continue }
            if isClosed || id != currentID || idleSince.duration(to: now) >= configuration.idle { multis[id] = nil }
        }
        if isClosed, running.isEmpty { (multis, timer, itself) = ([:], nil, nil) }
    }

    private func overdue(_ id: ObjectIdentifier, _ entry: Running, _ now: ContinuousClock.Instant) -> CurlError? {
        let (easy, transfer) = (entry.easy, entry.start.transfer)
        if let step = easy.step {
            return entry.start.began.duration(to: now) > transfer.deadlines.connect ? .timedOut(step) : nil
        }
        easy.noteAcknowledged()
        guard transfer.isWaitingForBody else {
            running[id]?.silentSince = nil
            return nil
        }
        let since = max(entry.silentSince ?? now, transfer.lastArrival)
        running[id]?.silentSince = since
        return since.duration(to: now) > transfer.deadlines.silenceInBody ? .silent : nil
    }

    /// Sets the timer for the next thing to do.
    private func arm() {
        while let start = ready.popFirst() { begin(start) }
        if !running.isEmpty || !waiting.isEmpty {
            let soon = ContinuousClock.now + Self.lookInterval
            nextLook = min(nextLook ?? soon, soon)
        }
        if nextLook == nil, let since = multis.values.compactMap(\.idleSince).min() {
            nextLook = since + configuration.idle
        }
        guard let deadline = (multis.values.compactMap(\.deadline) + [nextLook].compactMap(\.self)).min() else {
            return
        }
        timer?.arm(for: deadline)
    }

    /// Makes the timer, without which no transfer may begin: nothing would end it.
    private func hasTimer() -> Bool {
        if timer == nil {
            timer = DeadlineTimer { [weak self] in
                self?.assumeIsolated { $0.timerFired() }
            }
        }
        return timer != nil
    }
}
