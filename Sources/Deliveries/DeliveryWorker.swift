import Concurrency
import FoundationEssentials
package import Logging
import Outages

/// Sends what is due, in any process of the service.
///
/// Targets take turns. A target that is slow or dead has at most four deliveries under way, and holds up no other.
package actor DeliveryWorker {
    private let store: DeliveryStore
    private let channels: [DeliveryChannelName: any DeliveryChannel]
    private let options: DeliveryWorkerOptions
    private let logger: Logger
    private let outages: OutageReport
    private nonisolated let wakes: AsyncStream<Void>
    private nonisolated let wakeInput: AsyncStream<Void>.Continuation
    private var tasks: [UUID: Task<Void, Never>] = [:]
    private var busy: [String: Int] = [:]
    /// The last target that had its turn.
    private var lastTarget = ""

    /// - Parameters:
    ///   - store: The deliveries.
    ///   - channels: What this process can send to, one of each name at most.
    ///   - options: Its times and limits.
    ///   - logger: Logs what failed for good.
    package init(
        store: DeliveryStore,
        channels: [any DeliveryChannel],
        options: DeliveryWorkerOptions = DeliveryWorkerOptions(),
        logger: Logger
    ) {
        self.store = store
        self.channels = Dictionary(uniqueKeysWithValues: channels.map { ($0.name, $0) })
        (self.options, self.logger) = (options, logger)
        outages = OutageReport(
            failing: "deliveries can't be looked at, so nothing is sent out",
            over: "deliveries can be looked at again",
            logger: logger
        )
        (wakes, wakeInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks for deliveries soon: one was added, or one has ended.
    package nonisolated func wake() { wakeInput.yield() }

    /// Begins no more tries, and lets ``run()`` end.
    package nonisolated func stop() { wakeInput.finish() }

    /// Sends deliveries until it is stopped.
    ///
    /// Then it waits for those under way, but not for long. What is not sent by then is given back, for another process.
    package func run() async {
        let (input, interval) = (wakeInput, options.interval)
        let ticker = Task {
            while !Task.isCancelled {
                input.yield()
                try? await Task.sleep(for: interval)
            }
        }
        for await _ in wakes { await claimAll() }
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
        guard !channels.isEmpty else { return }
        do {
            // From the last target to the end, and then from the first one.
            var endsLeft = lastTarget.isEmpty ? 1 : 2
            while tasks.count < options.maxUnderWay, endsLeft > 0 {
                if try await claimSome() { endsLeft -= 1 }
            }
            outages.succeeded()
        } catch {
            outages.failed("\(error)")
        }
    }

    /// Claims what is due behind the last target, and begins to send it.
    ///
    /// - Returns: Whether the last of all targets had its turn.
    private func claimSome() async throws -> Bool {
        let maxCount = options.maxUnderWay - tasks.count
        let claims = try await store.claim(Array(channels.keys), behind: lastTarget, busy: busy, maxCount: maxCount)
        for delivery in claims.deliveries { begin(delivery) }
        if claims.deliveries.count == maxCount {
            lastTarget = claims.deliveries.map(\.target).max() ?? ""
            return false
        }
        lastTarget = claims.hasMoreTargets ? claims.lastTarget ?? "" : ""
        return !claims.hasMoreTargets
    }

    private func begin(_ delivery: Delivery) {
        busy[delivery.target, default: 0] += 1
        tasks[delivery.id] = Task {
            await attempt(delivery)
            tasks[delivery.id] = nil
            busy[delivery.target, default: 1] -= 1
            if busy[delivery.target] == 0 { busy[delivery.target] = nil }
            wake()
        }
    }

    // MARK: - Tries

    private nonisolated func attempt(_ delivery: Delivery) async {
        guard let channel = channels[delivery.channel] else { return }
        let maxSendTime = options.maxSendTime
        let outcome: DeliveryOutcome
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
        let isInterrupted = Task.isCancelled && outcome != .sent
        // Also when this task is cancelled.
        await Task { await note(delivery, isInterrupted ? nil : outcome) }.value
    }

    private struct TooSlow: Error {}

    /// Notes what came of a try; nil for one that was interrupted.
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
        if case .notNow(_, let retryAfter) = outcome {
            pause = DeliverySchedule.pause(afterTry: delivery.tryCount, retryAfter: retryAfter)
        }
        try await store.finish(delivery, outcome, pause: pause)
        switch outcome {
        case .refused(let reason):
            log("a delivery was refused", delivery, reason)
        case .notNow(let reason, _) where pause == nil:
            log("a delivery was tried for the last time", delivery, reason)
        default: break
        }
    }

    private nonisolated func log(_ message: Logger.Message, _ delivery: Delivery, _ reason: String) {
        let id = delivery.id.uuidString.lowercased()
        logger.warning(message, metadata: ["id": "\(id)", "target": "\(delivery.target)", "reason": "\(reason)"])
    }
}

/// The times and limits of a ``DeliveryWorker``.
package struct DeliveryWorkerOptions: Sendable {
    /// How many deliveries are under way at once.
    package var maxUnderWay = 32
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
