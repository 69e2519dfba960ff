import AsyncHTTPClient
import Deadlines

/// Gets credentials from a source in as many tries as its deadlines allow.
struct CredentialFetcher: Sendable {
    let source: S3CredentialSource
    let exchange: CredentialExchange
    let deadlines: S3CredentialDeadlines
    let time: S3Time

    /// Fetches once; ends within ``S3CredentialDeadlines/fetch``.
    func fetch() async throws(S3CredentialError) -> S3Credentials {
        let end = time.now() + deadlines.fetch
        var tries = 0
        while true {
            let result = await attempt(within: min(deadlines.attempt, time.now().duration(to: end)))
            tries += 1
            let pause = deadlines.pause * tries
            switch result {
            case .success(let credentials): return credentials
            case .failure(let failure):
                guard failure.isPassing, tries < S3CredentialDeadlines.maxTries, time.now() + pause < end
                else {
                    throw .failed(source.origin, failure)
                }
            }
            do { try await time.sleep(time.now() + pause) } catch { throw .cancelled }
        }
    }

    private func attempt(within limit: Duration) async -> Result<S3Credentials, S3CredentialFailure> {
        do {
            return .success(
                try await race {
                    try await source.fetch(over: exchange)
                } against: {
                    try await time.sleep(time.now() + limit)
                    return S3CredentialFailure.silent
                }
            )
        } catch {
            // A cancelled wait counts as silence.
            return .failure(error as? S3CredentialFailure ?? .silent)
        }
    }
}
