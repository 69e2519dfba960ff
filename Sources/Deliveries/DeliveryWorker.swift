import Concurrency
package import CoreMetrics
import FoundationEssentials
package import Logging
import Outages
import Synchronization

/// Sends what is due, in any process of the service.
///
/// Each channel has its own limit, so a dead one holds up no other. In a channel, targets take turns. A target that is slow or
/// dead has at most four deliveries under way.
package actor DeliveryWorker {
    private let store: DeliveryStore
    private let channels: [DeliveryChannelName: any DeliveryChannel]
    private let options: DeliveryWorkerOptions
    private let metrics: DeliveryMetrics
    private let logger: Logger
    private let outages: OutageReport
    private nonisolated let signal: DeliverySignal
    private nonisolated let isStopped = Atomic(false)
    private var tasks: [UUID: Task<Void, Never>] = [:]
    private var lanes: [DeliveryChannelName: Lane] = [:]
    /// When it was last looked whether servers are back.
    private var lastProbe: ContinuousClock.Instant?

    /// What is under way in a channel.
    private struct Lane {
        /// By target.
        var busy: [String: Int] = [:]
        /// The last target that had its turn.
        var lastTarget = ""

        var count: Int { busy.values.reduce(0, +) }
    }

    /// - Parameters:
    ///   - store: The deliveries.
    ///   - channels: What this process can send to, one of each name at most.
    ///   - options: Its times and limits.
    ///   - metrics: Counts what was sent, and how long it took.
    ///   - signal: Wakes it.
    ///   - logger: Logs what failed for good.
    package init(
        store: DeliveryStore,
        channels: [any DeliveryChannel],
        options: DeliveryWorkerOptions = DeliveryWorkerOptions(),
        metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        signal: DeliverySignal = DeliverySignal(),
        logger: Logger
    ) {
        (self.store, self.signal) = (store, signal)
        self.channels = Dictionary(uniqueKeysWithValues: channels.map { ($0.name, $0) })
        (self.options, self.logger) = (options, logger)
        self.metrics = DeliveryMetrics(channels: channels.map(\.name), factory: metrics)
        outages = OutageReport(
            failing: "deliveries can't be looked at, so nothing is sent out",
            over: "deliveries can be looked at again",
            logger: logger
        )
    }

    /// Looks for deliveries soon: one was added, or one has ended.
    package nonisolated func wake() { signal.send() }

    /// Begins no more tries, and lets ``run()`` end.
    package nonisolated func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        signal.end()
    }

    /// Sends deliveries until it is stopped.
    ///
    /// Then it waits for those under way, but not for long. What is not sent by then is given back, for another process.
    package func run() async {
        let (signal, interval) = (signal, options.interval)
        let ticker = Task {
            while !Task.isCancelled {
                signal.send()
                try? await Task.sleep(for: interval)
            }
        }
        for await _ in signal.stream { await claimAll() }
        ticker.cancel()
        await end()
    }

    private func end() async {
        let underWay = Array(tasks.values)
        let patience = options.patience
        let watch = Task {
            try await Task.sleep(for: patience)
            for task in underWay { task.cancel() }
        }
        for task in underWay { await task.value }
        watch.cancel()
    }

    // MARK: - Claims

    private func claimAll() async {
        do {
            for channel in channels.keys { try await claimAll(of: channel) }
            let now = ContinuousClock.now
            if lastProbe.map({ $0 + options.interval * 0.9 <= now }) ?? true {
                lastProbe = now
                for channel in channels.values { try await probe(channel) }
            }
            outages.succeeded()
        } catch {
            outages.failed("\(error)")
        }
    }

    private func claimAll(of channel: DeliveryChannelName) async throws {
        var lane: Lane { lanes[channel] ?? Lane() }
        // From the last target to the end, and then from the first one.
        var endsLeft = lane.lastTarget.isEmpty ? 1 : 2
        while endsLeft > 0, lane.count < options.maxUnderWay, !hasStopped {
            let (maxCount, behind) = (options.maxUnderWay - lane.count, lane.lastTarget)
            let claims = try await store.claim(channel, behind: behind, busy: lane.busy, maxCount: maxCount)
            for delivery in claims.deliveries { begin(delivery) }
            if claims.deliveries.count == maxCount {
                lanes[channel]?.lastTarget = claims.deliveries.map(\.target).max() ?? ""
            } else {
                lanes[channel]?.lastTarget = claims.hasMoreTargets ? claims.lastTarget ?? "" : ""
                if !claims.hasMoreTargets { endsLeft -= 1 }
            }
        }
    }

    /// Tries one delivery for each server whose return some wait for.
    private func probe(_ channel: any DeliveryChannel) async throws {
        for server in channel.servers where !hasStopped {
            guard let delivery = try await store.claimAwaiting(server, of: channel.name) else { continue }
            begin(delivery, probing: server)
        }
    }

    /// Whether an outcome shows that a server takes something again.
    private static func showsReturn(_ outcome: DeliveryOutcome) -> Bool {
        switch outcome {
        case .sent, .refused: true
        case .pointless, .notNow, .unavailable, .postponed, .unfinished: false
        }
    }

    private nonisolated var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

    private func begin(_ delivery: Delivery, probing server: String? = nil) {
        lanes[delivery.channel, default: Lane()].busy[delivery.target, default: 0] += 1
        tasks[delivery.id] = Task {
            // It was claimed while the worker was stopped.
            if hasStopped { await note(delivery, nil) } else { await attempt(delivery, probing: server) }
            tasks[delivery.id] = nil
            let count = (lanes[delivery.channel]?.busy[delivery.target] ?? 1) - 1
            lanes[delivery.channel]?.busy[delivery.target] = count > 0 ? count : nil
            wake()
        }
    }

    // MARK: - Tries

    private nonisolated func attempt(_ delivery: Delivery, probing server: String?) async {
        guard let channel = channels[delivery.channel] else { return }
        let maxSendTime = options.maxSendTime
        let outcome: DeliveryOutcome
        let start = ContinuousClock.now
        do {
            outcome = try await race {
                await channel.send(delivery)
            } against: {
                try await Task.sleep(for: maxSendTime)
                return TooSlow()
            }
        } catch is TooSlow {
            outcome = .notNow(reason: "silent")
        } catch {
            outcome = .notNow(reason: "interrupted")
        }
        var isGivenBack = Task.isCancelled && outcome != .sent
        // A look whether the other side is back is no try.
        if server != nil, case .unavailable = outcome { isGivenBack = true }
        metrics.tried(delivery, took: ContinuousClock.now - start)
        // Also when this task is cancelled.
        await Task {
            await note(delivery, isGivenBack ? nil : outcome)
            // If this fails, the next probe does it.
            if let server, Self.showsReturn(outcome) { try? await store.endOutage(of: server, delivery.channel) }
        }.value
    }

    private struct TooSlow: Error {}

    /// Notes what came of a try; nil for one that does not count.
    private nonisolated func note(_ delivery: Delivery, _ outcome: DeliveryOutcome?) async {
        for isLast in [false, false, true] {
            do {
                guard let outcome else { return try await store.giveBack(delivery) }
                return try await note(delivery, outcome)
            } catch {
                guard isLast else {
                    try? await Task.sleep(for: options.notePause)
                    continue
                }
                // Its lease ends, and it is tried again.
                logger.warning("the end of a delivery was not noted", metadata: ["error": "\(error)"])
            }
        }
    }

    private nonisolated func note(_ delivery: Delivery, _ outcome: DeliveryOutcome) async throws {
        var pause: Duration?
        switch outcome {
        case .notNow(_, let retryAfter):
            pause = DeliverySchedule.pause(afterTry: delivery.tryCount, retryAfter: retryAfter)
        case .unavailable: pause = DeliverySchedule.pause(afterTry: delivery.tryCount)
        case .sent, .pointless, .postponed, .unfinished, .refused: break
        }
        let hasFailed = try await store.finish(delivery, outcome, pause: pause)
        metrics.ended(delivery, outcome, hasFailed: hasFailed)
        switch outcome {
        case .refused(let reason):
            log("a delivery was refused", delivery, reason)
        case .notNow(let reason, _) where hasFailed, .unavailable(let reason, _) where hasFailed:
            log("a delivery was tried for the last time", delivery, reason)
        default: break
        }
    }

    private nonisolated func log(_ message: Logger.Message, _ delivery: Delivery, _ reason: String) {
        let id = delivery.id.uuidString.lowercased()
        logger.warning(message, metadata: ["id": "\(id)", "target": "\(delivery.target)", "reason": "\(reason)"])
    }
}

/// Wakes a ``DeliveryWorker``.
///
/// It is made before the worker, for those whom the worker's channels depend on.
package struct DeliverySignal: Sendable {
    fileprivate let stream: AsyncStream<Void>
    private let input: AsyncStream<Void>.Continuation

    package init() {
        (stream, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Has the worker look for deliveries soon.
    package func send() { input.yield() }

    fileprivate func end() { input.finish() }
}

/// The times and limits of a ``DeliveryWorker``.
package struct DeliveryWorkerOptions: Sendable {
    /// How many deliveries of a channel are under way at once: as many as all webhooks may have.
    package var maxUnderWay = 64
    /// How often it looks by itself.
    package var interval: Duration = .seconds(5)
    /// How long one try may take; shorter than the lease of a claim.
    package var maxSendTime: Duration = .seconds(60)
    /// How long tries may go on once it is stopped.
    package var patience: Duration = .seconds(20)
    /// The pause before it tries again to note what came of a try.
    package var notePause: Duration = .seconds(2)

    package init() {}
}
