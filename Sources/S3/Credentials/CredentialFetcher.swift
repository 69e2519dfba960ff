import AsyncHTTPClient

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
                guard failure.isPassing, tries < S3CredentialDeadlines.triesMax, time.now() + pause < end
                else {
                    throw .failed(source.origin, failure)
                }
            }
            do { try await time.sleep(time.now() + pause) } catch { throw .cancelled }
        }
    }

    private func attempt(within limit: Duration) async -> Result<S3Credentials, S3CredentialFailure> {
        await withTaskGroup(of: Result<S3Credentials, S3CredentialFailure>.self) { group in
            group.addTask {
                do throws(S3CredentialFailure) {
                    return .success(try await source.fetch(over: exchange))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await time.sleep(time.now() + limit)
                return .failure(.silent)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.silent)
        }
    }
}
