package import Concurrency
package import Logging
import Synchronization

/// Whether the service can do its work: each thing that it needs is looked at, one beside the other.
///
/// The result is cached for a while, and one check runs at a time. So probes cost nothing, however many there are.
package final class Readiness: Sendable {
    /// Something that the service needs.
    package struct Check: Sendable {
        let name: String
        let look: @Sendable () async throws -> Void

        /// - Parameters:
        ///   - name: What clients see, such as `database`.
        ///   - look: Throws when it is not ready. The error goes to the log, not to clients. When it is cancelled, it must
        ///     end soon.
        package init(_ name: String, look: @escaping @Sendable () async throws -> Void) {
            self.name = name
            self.look = look
        }
    }

    /// The result.
    struct Finding: Sendable, Equatable {
        let name: String
        /// Why it is not ready, for the log; nil when it is.
        let failure: String?

        var isReady: Bool { failure == nil }
    }

    private struct State {
        var findings: [Finding] = []
        var found: ContinuousClock.Instant?
        var look: Task<[Finding], Never>?
        /// The checks that are under way, perhaps since long ago.
        var running: Set<String> = []
    }

    private let checks: [Check]
    private let logger: Logger
    private let clock: any MonotonicClock
    private let state = Mutex(State())

    /// How long a look may take.
    ///
    /// With ``lifetime``, an outage shows within two seconds.
    static let deadline: Duration = .milliseconds(600)
    /// How long what was found holds, from the beginning of the look.
    static let lifetime: Duration = .seconds(1)

    /// - Parameters:
    ///   - checks: What to look at.
    ///   - logger: Logs when something is no longer ready, and when it is ready again.
    ///   - clock: The clock.
    package init(
        _ checks: [Check],
        logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) {
        self.checks = checks
        self.logger = logger
        self.clock = clock
    }

    /// The cached result, or a new one.
    func findings() async -> [Finding] {
        let now = clock.now
        let look = state.withLock { state -> Task<[Finding], Never>? in
            if let found = state.found, now - found < Self.lifetime { return nil }
            if let look = state.look { return look }
            let look = Task { await self.look(at: now) }
            state.look = look
            return look
        }
        guard let look else { return state.withLock { $0.findings } }
        return await look.value
    }

    private func look(at start: ContinuousClock.Instant) async -> [Finding] {
        let findings = await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, check) in checks.enumerated() { group.addTask { (index, await self.finding(of: check)) } }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        tellChanges(findings)
        state.withLock { state in
            state.findings = findings
            state.found = start
            state.look = nil
        }
        return findings
    }

    private func finding(of check: Check) async -> Finding {
        do {
            // One that does not end must not be begun again each second.
            guard state.withLock({ $0.running.insert(check.name).inserted }) else { throw NoAnswerInTime() }
            try await withDeadline(Self.deadline) { [self] in
                defer { _ = state.withLock { $0.running.remove(check.name) } }
                try await check.look()
            }
        } catch {
            return Finding(name: check.name, failure: "\(error)")
        }
        return Finding(name: check.name, failure: nil)
    }

    /// Logs what has changed, each cause once, whatever fails for it.
    private func tellChanges(_ findings: [Finding]) {
        let failing = state.withLock { Set($0.findings.filter { !$0.isReady }.map(\.name)) }
        let begun = findings.filter { !$0.isReady && !failing.contains($0.name) }
        for (cause, group) in Dictionary(grouping: begun, by: \.failure) {
            let names = group.map(\.name).joined(separator: ", ")
            logger.warning("not ready", metadata: ["checks": "\(names)", "error": "\(cause ?? "")"])
        }
        let over = findings.filter { $0.isReady && failing.contains($0.name) }.map(\.name).joined(separator: ", ")
        if !over.isEmpty { logger.notice("ready again", metadata: ["checks": "\(over)"]) }
    }
}

/// Nothing was found in time.
struct NoAnswerInTime: Error, CustomStringConvertible {
    let description = "it did not answer in time"
}

/// Waits for work, but not longer than the deadline, even if the work does not end when it is cancelled.
private func withDeadline(_ deadline: Duration, _ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let (outcomes, outcome) = AsyncThrowingStream.makeStream(of: Never.self)
    let waiting = Task {
        let result = await task.result
        if case .failure(let error) = result { outcome.finish(throwing: error) } else { outcome.finish() }
    }
    let clock = Task {
        try await Task.sleep(for: deadline)
        outcome.finish(throwing: NoAnswerInTime())
        task.cancel()
    }
    defer {
        clock.cancel()
        waiting.cancel()
    }
    for try await _ in outcomes {}
}
