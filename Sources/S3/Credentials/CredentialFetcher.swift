import Concurrency

/// Gets credentials from a source in as many attempts as its deadlines allow.
struct CredentialFetcher: Sendable {
    let source: S3CredentialSource
    let exchange: CredentialExchange
    let deadlines: S3CredentialDeadlines
    let clock: any MonotonicClock

    /// Fetches once; ends within ``S3CredentialDeadlines/fetch``.
    func fetch() async throws(S3CredentialError) -> S3Credentials {
        let end = clock.now + deadlines.fetch
        var attempts = 0
        while true {
            let result = await attempt(within: min(deadlines.attempt, clock.now.duration(to: end)))
            attempts += 1
            let pause = deadlines.pause * attempts
            switch result {
            case .success(let credentials): return credentials
            case .failure(let failure):
                guard failure.isPassing, attempts < S3CredentialDeadlines.maxAttempts, clock.now + pause < end
                else {
                    throw .failed(source.origin, failure)
                }
            }
            do { try await clock.sleep(for: pause) } catch { throw .cancelled }
        }
    }

    private func attempt(within limit: Duration) async -> Result<S3Credentials, S3CredentialFailure> {
        do {
            return .success(
                try await race {
                    try await source.fetch(over: exchange)
                } against: {
                    try await clock.sleep(for: limit)
                    return S3CredentialFailure.silent
                }
            )
        } catch {
            // A cancelled wait counts as silence.
            return .failure(error as? S3CredentialFailure ?? .silent)
        }
    }
}
