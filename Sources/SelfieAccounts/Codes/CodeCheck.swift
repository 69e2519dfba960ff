/// Tries a code.
///
/// It counts the try, undoes the count for a right code, and notes a wrong one.
package struct CodeCheck: Sendable {
    let codes: CodeStore
    /// Counts what is counted by address.
    let limiter: RateLimiter
    /// Counts what is counted by account: also where there are no other limits, since a code has six digits only.
    let accountLimiter: RateLimiter
    let audit: AuditStore

    /// Whose code is tried, and from where.
    package struct Attempt: Sendable {
        /// What the client sent.
        let text: String
        let purpose: CodePurpose
        let account: AccountName
        /// Whether the account was used from this network before, or the request has a session of its user.
        let isKnownNetwork: Bool
        /// The session of the request; nil where there is none.
        let sessionID: Int?
        let source: RequestSource

        private var userID: Int? {
            guard case .user(let id) = account else { return nil }
            return id
        }

        fileprivate var auditedUserID: Int? { userID }

        /// Tries from networks that the account knows are counted apart, so that strangers can't lock its user out.
        fileprivate var actions: [LimitedAction] {
            if let sessionID { return [.codeTryOfSession(id: sessionID)] }
            if let userID, isKnownNetwork {
                return [.codeTryFromKnownNetwork(userID: userID, network: source.address.network)]
            }
            return [.codeTry(account)]
        }

        /// A try without a session.
        init(_ text: String, for purpose: CodePurpose, of found: FoundAccount, from source: RequestSource) {
            (self.text, self.purpose, self.source) = (text, purpose, source)
            (account, isKnownNetwork, sessionID) = (found.name, found.isKnownNetwork, nil)
        }

        /// A try by a session of the account.
        package init(_ text: String, for purpose: CodePurpose, by session: Session, from source: RequestSource) {
            (self.text, self.purpose, self.source) = (text, purpose, source)
            (account, isKnownNetwork, sessionID) = (.user(id: session.userID), true, session.id)
        }
    }

    /// Tries a code, and does what it is for if it is right.
    ///
    /// - Parameters:
    ///   - attempt: Whose code, and from where.
    ///   - use: Does the work, and uses the code up in its transaction. It returns nil if the code was gone by then.
    /// - Returns: The result of `use`.
    /// - Throws: `CodeError.invalid`, `RateLimitExceeded`, `PostgresError`, or what `use` throws.
    package func callAsFunction<Outcome>(
        _ attempt: Attempt,
        use: (WaitingCode) async throws -> Outcome?
    ) async throws -> Outcome {
        let userID = attempt.auditedUserID
        let byAddress = attempt.sessionID == nil ? LimitedAction.signIn(from: attempt.source.address) : []
        let ofAddress = try await limiter.count(byAddress, ofUser: userID, from: attempt.source)
        let ofAccount = try await limiter.givingBack(
            ofAddress,
            onFailureOf: {
                try await accountLimiter.count(attempt.actions, ofUser: userID, from: attempt.source)
            }
        )
        let found = try await codes.attempt(
            attempt.text,
            for: attempt.purpose,
            of: attempt.account,
            isKnownNetwork: attempt.isKnownNetwork
        )
        if let found {
            await limiter.giveBack(ofAddress)
            await accountLimiter.giveBack(ofAccount)
            if let outcome = try await use(found) { return outcome }
        }
        try await audit.add(.codeFailed, userID: userID, from: attempt.source)
        throw CodeError.invalid
    }
}

/// The account that a client has named by an address, or that address.
struct FoundAccount: Sendable {
    /// Nil when there is none.
    let user: User?
    let name: AccountName
    /// Whether its user has signed in from the network of the request before.
    let isKnownNetwork: Bool
    /// The address of the request, if the account had it a short time ago and has another one now.
    let formerEmail: String?

    /// - Parameters:
    ///   - user: The account; nil when there is none.
    ///   - unknown: The name of the address without an account. It is made for each address, so that its time tells nothing.
    ///   - isKnownNetwork: Whether its user has signed in from the network of the request before.
    ///   - formerEmail: The address of the request, if the account had it a short time ago and has another one now.
    init(user: User?, otherwise unknown: AccountName, isKnownNetwork: Bool, formerEmail: String? = nil) {
        self.user = user
        name = user.map { .user(id: $0.id) } ?? unknown
        (self.isKnownNetwork, self.formerEmail) = (isKnownNetwork, formerEmail)
    }
}
