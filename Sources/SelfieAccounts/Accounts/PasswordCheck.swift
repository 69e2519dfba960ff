import Budgets

/// Tries a password.
///
/// It counts the attempt, undoes the count for a correct password, and notes a wrong one.
package struct PasswordCheck: Sendable {
    let limiter: RateLimiter
    let hasher: PasswordHasher
    let audit: AuditStore

    /// The limits that an attempt counts against, and the event of a failure.
    package struct Purpose {
        /// The account, as the queue for hashes knows it.
        let account: AccountName
        /// The actions to count before the password is tried.
        let actions: [LimitedAction]
        /// The event to note when the password is wrong.
        let failure: AuditEvent
        /// The account's id; nil when there is none.
        let userID: Int?
        /// Where the request came from.
        let source: RequestSource

        fileprivate var caller: FairSemaphore.Caller { source.caller(account) }

        init(
            account: AccountName,
            actions: [LimitedAction],
            failure: AuditEvent,
            userID: Int?,
            source: RequestSource
        ) {
            self.account = account
            self.actions = actions
            self.failure = failure
            self.userID = userID
            self.source = source
        }

        /// A password that comes with a token of the account's user.
        package init(by session: Session, failure: AuditEvent, source: RequestSource) {
            self.init(
                account: .user(id: session.userID),
                actions: [.passwordOfSession(id: session.id)],
                failure: failure,
                userID: session.userID,
                source: source
            )
        }
    }

    /// Refuses an attempt at once when the hasher has no room for it.
    ///
    /// - Throws: `TooBusy`.
    func requireRoom(for account: AccountName, from source: RequestSource) throws(TooBusy) {
        try hasher.requireRoom(for: source.caller(account))
    }

    /// Tries a password, and uses the account if it is right.
    ///
    /// The password counts as wrong until it turns out to be right, so that parallel attempts can't pass the limit.
    ///
    /// - Parameters:
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - purpose: What is counted and noted.
    ///   - find: Finds the account. It is called again when another request changed the hash meanwhile.
    ///   - require: Throws when the account must not be used. The attempt stays counted.
    ///   - use: Does the work that needs the password. It returns nil when the hash was changed meanwhile.
    /// - Returns: The result of `use`. Nil when the password is wrong or there is no account; both take the same time.
    /// - Throws: `RateLimitExceeded`, `TooBusy`, `PostgresError`, or what the closures throw.
    package func callAsFunction<Outcome>(
        _ password: Password?,
        for purpose: Purpose,
        find: (_ isAgain: Bool) async throws -> User?,
        require: (User?) throws -> Void = { _ in },
        use: (User, Password) async throws -> Outcome?
    ) async throws -> Outcome? {
        try requireRoom(for: purpose.account, from: purpose.source)
        let name = purpose.userID.map { AccountName.user(id: $0) } ?? purpose.account
        var counted = try await limiter.count(
            purpose.actions + [.passwordTry(name)],
            ofUser: purpose.userID,
            from: purpose.source
        )
        var isAgain = false
        while true {
            let user = try await limiter.givingBack(counted, onFailureOf: { try await find(isAgain) })
            try require(user)
            let isCorrect = try await limiter.givingBack(&counted) {
                try await hasher.verify(password, against: user?.passwordHash, for: purpose.caller)
            }
            guard isCorrect, let user, let password else {
                try await audit.add(purpose.failure, userID: purpose.userID, from: purpose.source)
                return nil
            }
            if let outcome = try await use(user, password) { return outcome }
            isAgain = true
        }
    }
}
