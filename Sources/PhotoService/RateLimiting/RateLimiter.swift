import Crypto
import FoundationEssentials
import HTTPTypes

/// Something that there is a limit for, done by someone.
enum LimitedAction: Sendable {
    /// A password is tried for an account, or for an e-mail that has none.
    case password(AccountName)
    /// The same from a network that the account's user has signed in from.
    case passwordFromKnownNetwork(userID: Int, network: String)
    /// A password is tried by someone who holds a token.
    case passwordOfSession(id: Int)
    case signIn(network: String)
    case signUp(network: String)
    case getToken(network: String)
    case tokenGuess(network: String)
    case upload(userID: Int)
}

/// An account as a sign-in names it.
enum AccountName: Sendable {
    case user(id: Int)
    /// An e-mail without an account.
    case unknown(email: String)
}

/// Counts what is done, for all processes together, and refuses what is done too often.
struct RateLimiter: Sendable {
    private let store: RateLimitStore
    private let audit: AuditStore
    /// Nil when they are off.
    private let limits: RateLimits?
    private let authenticator: MessageAuthenticator
    private let memory = RefusalMemory()
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - store: Where the counts are.
    ///   - audit: Told when a limit begins to refuse.
    ///   - limits: The limits; nil for none.
    ///   - secret: Makes the keys of counts name nobody to who reads them.
    ///   - now: The time by which refusals are remembered.
    init(
        store: RateLimitStore,
        audit: AuditStore,
        limits: RateLimits?,
        secret: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.now = now
        self.store = store
        self.audit = audit
        self.limits = limits
        authenticator = MessageAuthenticator(key: Array("rate limits\0\(secret)".utf8))
    }

    /// Counts actions that a request is.
    ///
    /// - Parameters:
    ///   - actions: The actions; where one is refused, those before it are given back and those behind not counted.
    ///   - userID: Whose account they are about; nil when there is none.
    ///   - source: Where the request came from.
    /// - Returns: What was counted, to be given back by who turns out to have been right.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    @discardableResult
    func count(
        _ actions: LimitedAction...,
        ofUser userID: Int?,
        from source: RequestSource
    ) async throws -> CountedActions {
        guard let limits else { return CountedActions() }
        let keys = actions.map { key(of: $0) }
        for key in keys {
            if let refusal = memory.refusal(of: key, now: now()) { throw refusal }
        }
        var counted = CountedActions()
        for (action, key) in zip(actions, keys) {
            let limit = limits.limit(of: action)
            let count = try await givingBack(counted, onFailureOf: { try await store.count(key, limit: limit) })
            guard count.count > limit.count else {
                counted.places.append(count.place)
                continue
            }
            // What others did to an account must not use up what an address has.
            await giveBack(counted)
            let exceeded = RateLimitExceeded(limit: limit, secondsLeft: count.secondsLeft)
            memory.remember(key, exceeded, now: now())
            // The first refusal tells of all that follow.
            if count.count == limit.count + 1 { try await audit.add(action.refusal, userID: userID, from: source) }
            throw exceeded
        }
        return counted
    }

    /// Takes back what was counted.
    ///
    /// A failure of it keeps nobody from what the request is for, and a client that is gone does not stop it.
    func giveBack(_ counted: CountedActions) async {
        guard !counted.places.isEmpty else { return }
        try? await Task { try await store.giveBack(counted.places) }.value
        memory.forget(counted.places.map(\.key))
    }

    /// Takes back what was counted when what comes next fails.
    ///
    /// Who goes away before the answer does not get a try for nothing.
    func givingBack<Result>(
        _ counted: CountedActions,
        onFailureOf body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            if !Task.isCancelled { await giveBack(counted) }
            throw error
        }
    }

    /// Tries a password that was counted as wrong, and takes the count back when it was right, or could not be tried.
    ///
    /// - Parameters:
    ///   - counted: The count; nothing is left of it once it was taken back.
    ///   - verify: Tries it.
    /// - Returns: Whether it was right.
    /// - Throws: What the body throws.
    func givingBack(
        _ counted: inout CountedActions,
        unlessWrong verify: () async throws -> Bool
    ) async throws -> Bool {
        let isRight = try await givingBack(counted, onFailureOf: verify)
        if isRight {
            await giveBack(counted)
            counted = CountedActions()
        }
        return isRight
    }

    /// The code of an action, which is no secret and no name.
    private func key(of action: LimitedAction) -> String {
        let text = action.text
        return authenticator.code { hash in hash.update(data: Array(text.utf8)) }.withUnsafeBytes { $0.hexadecimal }
    }
}

/// What was counted against limits.
struct CountedActions: Sendable {
    fileprivate var places: [RateLimitStore.Place] = []
}

/// Something was done too often.
struct RateLimitExceeded: Error {
    let limit: RateLimit
    /// Until the window ends.
    let secondsLeft: Int

    /// What the client sees.
    ///
    /// Source of the `RateLimit` fields: draft-ietf-httpapi-ratelimit-headers-06, the last with fields that say each
    /// one thing. A Retry-After that says less than `RateLimit-Reset` would be against its section 5.
    var serviceError: ServiceError {
        var headers: HTTPFields = [.retryAfter: String(secondsLeft)]
        for (name, value) in [
            ("RateLimit-Limit", "\(limit.count)"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "\(secondsLeft)"),
            ("RateLimit-Policy", "\(limit.count);w=\(limit.seconds)"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return ServiceError(
            status: .tooManyRequests,
            message: "Too many requests. Please try again later!",
            headers: headers
        )
    }
}

extension RateLimits {
    fileprivate func limit(of action: LimitedAction) -> RateLimit {
        switch action {
        case .password, .passwordFromKnownNetwork, .passwordOfSession: signInPerAccount
        case .signIn: signInPerAddress
        case .signUp: signUpPerAddress
        case .getToken: getTokenPerAddress
        case .tokenGuess: tokenGuessesPerAddress
        case .upload: uploadsPerUser
        }
    }
}

extension LimitedAction {
    /// What is noted when it begins to be refused.
    fileprivate var refusal: AuditEvent {
        switch self {
        case .password, .passwordFromKnownNetwork, .signIn: .signInLimited
        case .passwordOfSession: .passwordLimited
        case .signUp: .signUpLimited
        case .getToken: .getTokenLimited
        case .tokenGuess: .tokenGuessesLimited
        case .upload: .uploadsLimited
        }
    }

    /// A text that no other action by anybody has.
    fileprivate var text: String {
        switch self {
        case .password(.user(let id)): "user\0\(id)"
        case .password(.unknown(let email)): "email\0\(email.trimmingWhitespace().lowercased())"
        case .passwordFromKnownNetwork(let userID, let network): "known\0\(userID)\0\(network)"
        case .passwordOfSession(let id): "session\0\(id)"
        case .signIn(let network): "signin\0\(network)"
        case .signUp(let network): "signup\0\(network)"
        case .getToken(let network): "get_token\0\(network)"
        case .tokenGuess(let network): "token\0\(network)"
        case .upload(let userID): "upload\0\(userID)"
        }
    }
}
