import Foundation

/// Which credentials a caller gets, and when new ones are fetched; pure, the time is an argument.
///
/// A fetch is under way at most once. It begins when a caller needs it, so an idle process asks nobody.
struct CredentialCacheState: Sendable {
    /// From so many seconds before their end on, credentials are fetched anew while they are still used.
    ///
    /// The metadata service has the next ones at least five minutes before the end of the last. Source: Amazon EC2 User
    /// Guide, "Retrieve security credentials from instance metadata".
    static let refreshSeconds: TimeInterval = 300
    /// With fewer seconds left than this, callers wait for the fetch: a call must not outlive its credentials.
    static let waitSeconds: TimeInterval = 30
    /// How many seconds after a fetch the next one may begin, however it ended.
    static let pauseSeconds: TimeInterval = 10

    /// What a caller is to do.
    enum Decision {
        /// Go on with these.
        case use(S3Credentials)
        /// Go on with these, and begin a fetch for later.
        case useAndFetch(S3Credentials)
        /// Wait for the fetch under way.
        case wait
        /// Begin a fetch and wait for it.
        case fetchAndWait
        /// There are none, and the last fetch is too recent for another.
        case fail(S3CredentialError)
    }

    private let origin: S3CredentialOrigin
    private(set) var isFetching = false
    private var cached: S3Credentials?
    /// The store has refused the cached ones as ended.
    private var isRejected = false
    private var lastFetchEnd: Date?
    /// Of the last fetch; nil when it brought credentials.
    private var lastError: S3CredentialError?

    init(origin: S3CredentialOrigin) {
        self.origin = origin
    }

    /// For a caller that needs credentials.
    mutating func current(at now: Date) -> Decision {
        if let cached, !isRejected {
            let secondsLeft = cached.expiration.map { $0.timeIntervalSince(now) } ?? .infinity
            if secondsLeft > Self.refreshSeconds { return .use(cached) }
            if secondsLeft >= Self.waitSeconds {
                guard !isFetching, !isPausing(at: now) else { return .use(cached) }
                isFetching = true
                return .useAndFetch(cached)
            }
        }
        return waitForFetch(at: now) ?? decision(outcome(at: now))
    }

    /// For a caller whose request the store refused because these credentials had ended.
    mutating func replacement(for rejected: S3Credentials, at now: Date) -> Decision {
        // Others were quicker: these are newer, and may be good.
        guard cached == rejected else { return current(at: now) }
        // A fetch that just brought the same ones says that there are no others: they stay in use until there are, as
        // the store may be wrong about the time.
        if isFetching || !isPausing(at: now) || lastError != nil { isRejected = true }
        return waitForFetch(at: now) ?? decision(outcome(for: rejected, at: now))
    }

    /// The fetch under way has ended.
    mutating func finishFetch(_ result: Result<S3Credentials, S3CredentialError>, at now: Date) {
        isFetching = false
        lastFetchEnd = now
        switch result {
        case .success(let credentials):
            cached = credentials
            isRejected = false
            lastError = nil
        case .failure(let error):
            lastError = error
        }
    }

    /// What a caller gets once the fetch that it waited for has ended.
    ///
    /// New credentials that seem to have ended are given out: it is our clock that may be wrong, and the store decides.
    ///
    /// - Parameters:
    ///   - rejected: what the store refused; nil when it refused none.
    ///   - now: the time.
    /// - Returns: the credentials, or the last fetch's error.
    func outcome(for rejected: S3Credentials? = nil, at now: Date) -> Result<S3Credentials, S3CredentialError> {
        if let cached, cached != rejected, !isRejected, lastError == nil || isAlive(cached, at: now) {
            return .success(cached)
        }
        return .failure(lastError ?? .notReplaced(origin))
    }

    private mutating func waitForFetch(at now: Date) -> Decision? {
        if isFetching { return .wait }
        if isPausing(at: now) { return nil }
        isFetching = true
        return .fetchAndWait
    }

    private func decision(_ outcome: Result<S3Credentials, S3CredentialError>) -> Decision {
        switch outcome {
        case .success(let credentials): .use(credentials)
        case .failure(let error): .fail(error)
        }
    }

    /// A clock that was set back ends the pause, instead of making it as long as the step.
    private func isPausing(at now: Date) -> Bool {
        guard let lastFetchEnd else { return false }
        return (0..<Self.pauseSeconds).contains(now.timeIntervalSince(lastFetchEnd))
    }

    private func isAlive(_ credentials: S3Credentials, at now: Date) -> Bool {
        credentials.expiration.map { $0 > now } ?? true
    }
}
