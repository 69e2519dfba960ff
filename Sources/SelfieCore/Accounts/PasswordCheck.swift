/// Tries a password: sees that there is room, counts the try, verifies it, gives a right one back, notes a wrong one.
struct PasswordCheck: Sendable {
    let limiter: RateLimiter
    let hasher: PasswordHasher
    let audit: AuditStore

    /// What a password is tried for.
    struct Purpose {
        /// Counted before the password is tried.
        let actions: [LimitedAction]
        /// Noted when the password is wrong.
        let failure: AuditEvent
        /// Whose account it is about; nil when there is none.
        let userID: Int?
        /// Where the request came from.
        let source: RequestSource
    }

    /// Refuses what would be refused later, before anything is done for it.
    ///
    /// - Throws: `PasswordHasherError.overloaded`.
    func requireRoom() throws(PasswordHasherError) {
        try hasher.requireRoom()
    }

    /// Tries a password, and uses the account where it is right.
    ///
    /// The password counts as wrong until it turns out to be right, so that parallel tries can't pass the limit.
    ///
    /// - Parameters:
    ///   - password: The password; nil for one that could not be decrypted.
    ///   - purpose: What is counted and noted.
    ///   - find: Finds the account. It is called again when another request changed the hash meanwhile.
    ///   - require: Throws where no password is to be tried; the try stays counted.
    ///   - use: Does what the password was asked for; nil when the hash was changed meanwhile.
    /// - Returns: What was done; nil when the password is wrong or there is no account, in the same time for both.
    /// - Throws: `RateLimitExceeded`, `PasswordHasherError`, `PostgresError`, or what the closures throw.
    func callAsFunction<Outcome>(
        _ password: Password?,
        for purpose: Purpose,
        find: (_ isAgain: Bool) async throws -> User?,
        require: (User?) throws -> Void = { _ in },
        use: (User, Password) async throws -> Outcome?
    ) async throws -> Outcome? {
        try requireRoom()
        var counted = try await limiter.count(purpose.actions, ofUser: purpose.userID, from: purpose.source)
        var isAgain = false
        while true {
            let user = try await limiter.givingBack(counted, onFailureOf: { try await find(isAgain) })
            try require(user)
            let isCorrect = try await limiter.givingBack(&counted) {
                try await hasher.verify(password, against: user?.passwordHash)
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
