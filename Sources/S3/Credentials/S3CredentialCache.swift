package import Concurrency
package import Curl
package import FoundationEssentials
import Synchronization

/// Returns valid credentials from one source, and renews them.
///
/// Temporary ones are fetched again five minutes before their end. There is one fetch for all callers, in the
/// background while the old ones are still valid. It uses a lock instead of an actor, so that a request gets cached
/// credentials without leaving its thread.
package final class S3CredentialCache: Sendable {
    /// Where they come from.
    package let source: S3CredentialSource
    private let fetcher: CredentialFetcher
    private let now: @Sendable () -> Date
    private let onFailure: @Sendable (S3CredentialError) -> Void
    private let shared: Mutex<Shared>

    private typealias Outcome = Result<S3Credentials, S3CredentialError>

    private struct Shared: Sendable {
        var state: CredentialCacheState
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Outcome, Never>
        let rejected: S3Credentials?
    }

    /// Makes a cache.
    ///
    /// Nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - source: where the credentials come from.
    ///   - curl: asks the source.
    ///   - deadlines: how long a fetch may take.
    ///   - clock: the clock of the deadlines.
    ///   - onFailure: called for each failed fetch, since a fetch in the background has no caller.
    ///   - now: the time, for the end of credentials.
    package init(
        source: S3CredentialSource,
        curl: CurlClient,
        deadlines: S3CredentialDeadlines = S3CredentialDeadlines(),
        clock: any MonotonicClock = ContinuousClock(),
        onFailure: @escaping @Sendable (S3CredentialError) -> Void = { _ in },
        now: @escaping @Sendable () -> Date
    ) {
        self.source = source
        self.now = now
        self.onFailure = onFailure
        fetcher = CredentialFetcher(
            source: source,
            exchange: CredentialExchange(curl: curl),
            deadlines: deadlines,
            clock: clock
        )
        shared = Mutex(Shared(state: CredentialCacheState(origin: source.origin)))
    }

    /// How many callers wait for a fetch.
    var waiterCount: Int { shared.withLock { $0.waiters.count } }

    /// The credentials to sign with.
    ///
    /// Waits only when there are none, or they end in less than 30 seconds; then for ``S3CredentialDeadlines/fetch`` at
    /// most. After a failed fetch, the next one begins ten seconds later at the earliest. Until then callers get the
    /// old credentials, or the error when these have ended.
    ///
    /// - Returns: fixed ones, or temporary ones that have not ended by our clock.
    /// - Throws: ``S3CredentialError``; when the calling task is cancelled, which no other caller notices,
    ///   ``S3CredentialError/cancelled``.
    package func current() async throws(S3CredentialError) -> S3Credentials {
        if case .fixed(let credentials) = source { return credentials }
        return try await perform(rejected: nil)
    }

    /// Other credentials than those that the store refused as ended (`ExpiredToken`).
    ///
    /// Fetches once for all callers with the same ones. A caller with older ones gets the present ones.
    ///
    /// - Parameter rejected: what the refused request was signed with.
    /// - Returns: credentials that differ from the rejected.
    /// - Throws: ``S3CredentialError``, ``S3CredentialError/notReplaced(_:)`` when the source gives no others.
    func replacement(for rejected: S3Credentials) async throws(S3CredentialError) -> S3Credentials {
        if case .fixed = source { throw .notReplaced(.fixed) }
        return try await perform(rejected: rejected)
    }

    private func perform(rejected: S3Credentials?) async throws(S3CredentialError) -> S3Credentials {
        let now = now()
        let decision = shared.withLock { shared in
            guard let rejected else { return shared.state.current(at: now) }
            return shared.state.replacement(for: rejected, at: now)
        }
        switch decision {
        case .use(let credentials): return credentials
        case .fail(let error): throw error
        case .useAndFetch(let credentials):
            startFetch()
            return credentials
        case .fetchAndWait: startFetch()
        case .wait: break
        }
        return try await outcome(for: rejected).get()
    }

    /// In a task of its own, so that a cancelled caller does not end it for the others.
    ///
    /// Its deadlines end it.
    private func startFetch() {
        Task {
            let outcome: Outcome
            do throws(S3CredentialError) {
                outcome = .success(try await fetcher.fetch())
            } catch {
                outcome = .failure(error)
                onFailure(error)
            }
            let now = now()
            let answers = shared.withLock { shared in
                shared.state.finishFetch(outcome, at: now)
                defer { shared.waiters = [:] }
                return shared.waiters.values.map { ($0.continuation, shared.state.outcome(for: $0.rejected, at: now)) }
            }
            for (continuation, answer) in answers { continuation.resume(returning: answer) }
        }
    }

    private func outcome(for rejected: S3Credentials?) async -> Outcome {
        let id = shared.withLock { shared in
            defer { shared.nextWaiter += 1 }
            return shared.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = now()
                let answer: Outcome? = shared.withLock { shared in
                    // The cancellation handler needs the lock, too. So it ran before this, or it will find the waiter.
                    if Task.isCancelled { return .failure(.cancelled) }
                    guard shared.state.isFetching else { return shared.state.outcome(for: rejected, at: now) }
                    shared.waiters[id] = Waiter(continuation: continuation, rejected: rejected)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = shared.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(returning: .failure(.cancelled))
        }
    }
}

extension S3CredentialCache: CustomStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "S3CredentialCache(redacted)" }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
