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
        let place: CodeStore.Place
        let source: RequestSource

        fileprivate var userID: Int? {
            switch account {
            case .user(let id), .former(let id, _): id
            case .normalized: nil
            }
        }

        /// Tries from networks that the account knows are counted apart, so that strangers can't lock its user out.
        fileprivate var accountActions: [LimitedAction] {
            switch (place, account) {
            case (.session, .user(let id)): [.codeTryBySession(userID: id)]
            case (.knownNetwork, .user(let id)):
                [.codeTryFromKnownNetwork(userID: id, network: source.address.network)]
            default: [.codeTry(account)]
            }
        }

        /// Others behind the same address must not use up the tries of a network that the account knows.
        fileprivate var addressActions: [LimitedAction] {
            place == .elsewhere ? LimitedAction.signIn(from: source.address) : []
        }

        /// A try without a session.
        init(_ text: String, for purpose: CodePurpose, of found: FoundAccount, from source: RequestSource) {
            (self.text, self.purpose, self.source) = (text, purpose, source)
            (account, place) = (found.name, found.isKnownNetwork ? .knownNetwork : .elsewhere)
        }

        /// A try by a session of the account.
        package init(_ text: String, for purpose: CodePurpose, by session: Session, from source: RequestSource) {
            (self.text, self.purpose, self.source) = (text, purpose, source)
            (account, place) = (.user(id: session.userID), .session)
        }
    }

    /// Compares a code with the waiting ones, and runs `use` if one is the same.
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
        let userID = attempt.userID
        let ofAddress = try await limiter.count(attempt.addressActions, ofUser: userID, from: attempt.source)
        let ofAccount = try await limiter.givingBack(
            ofAddress,
            onFailureOf: {
                try await accountLimiter.count(attempt.accountActions, ofUser: userID, from: attempt.source)
            }
        )
        let found = try await codes.attempt(
            attempt.text,
            for: attempt.purpose,
            of: attempt.account,
            from: attempt.place
        )
        if let found {
            // A right code that is not used up, such as one that comes while all threads hash, is tried again.
            try await codes.giveBack(found, triedFrom: attempt.place)
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
    /// The address that mails go to: the account's own, or as the client sent it if there is no account.
    let email: String
    /// Whether its user has signed in from the network of the request before.
    let isKnownNetwork: Bool
    /// The address that the account had a short time ago, as it had it; nil if the request has the present one.
    let formerEmail: String?

    /// - Parameters:
    ///   - user: The account; nil when there is none.
    ///   - email: The address that mails go to.
    ///   - unknown: The name of the address without an account. It is made for each address, so that its time tells nothing.
    ///   - isKnownNetwork: Whether its user has signed in from the network of the request before.
    ///   - formerEmail: The address of the request, if the account had it a short time ago and has another one now.
    init(
        user: User?,
        email: String,
        otherwise unknown: AccountName,
        isKnownNetwork: Bool,
        formerEmail: String? = nil
    ) {
        (self.user, self.email) = (user, email)
        name =
            switch (user, formerEmail) {
            case (let user?, let email?): .former(userID: user.id, email: normalized(email))
            case (let user?, nil): .user(id: user.id)
            case (nil, _): unknown
            }
        (self.isKnownNetwork, self.formerEmail) = (isKnownNetwork, formerEmail)
    }
}
