import FoundationEssentials

/// Decides which credentials a caller gets, and when new ones are fetched.
///
/// It does no I/O; the time is an argument.
///
/// There is at most one fetch at a time. It begins when a caller needs it, so an idle process fetches nothing.
struct CredentialCacheState: Sendable {
    /// When fewer seconds than this are left, new credentials are fetched while the old ones are still used.
    ///
    /// The metadata service has the next ones at least five minutes before the end of the last. Source: Amazon EC2 User
    /// Guide, "Retrieve security credentials from instance metadata".
    static let refreshSeconds: TimeInterval = 300
    /// With fewer seconds left than this, callers wait for the fetch: a call must not outlive its credentials.
    static let waitSeconds: TimeInterval = 30
    /// The least number of seconds between two fetches, also after a failure.
    static let pauseSeconds: TimeInterval = 10

    /// The next step of a caller.
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
    /// The error of the last fetch; nil when it succeeded.
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
        // Another caller was faster: these are newer and may be good.
        guard cached == rejected else { return current(at: now) }
        // If a fetch has just brought the same ones, there are no others. They stay in use, because the store's clock
        // may be wrong.
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

    /// The result for a caller after the fetch that it waited for.
    ///
    /// New credentials that seem to have ended are given out, too: our clock may be wrong, and the store decides.
    ///
    /// - Parameters:
    ///   - rejected: the credentials that the store refused; nil for none.
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

    /// When the clock is set back, the pause ends instead of growing.
    private func isPausing(at now: Date) -> Bool {
        guard let lastFetchEnd else { return false }
        return (0..<Self.pauseSeconds).contains(now.timeIntervalSince(lastFetchEnd))
    }

    private func isAlive(_ credentials: S3Credentials, at now: Date) -> Bool {
        credentials.expiration.map { $0 > now } ?? true
    }
}
