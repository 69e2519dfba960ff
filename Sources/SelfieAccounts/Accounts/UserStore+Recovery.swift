import Postgres

extension UserStore {
    /// Replaces a password without the old one, and ends all sessions and photos' URLs, in one transaction.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - hash: The new password's hash.
    /// - Returns: Whether there is such a user.
    /// - Throws: `PostgresError`.
    func replacePassword(ofUser id: Int, with hash: String) async throws -> Bool {
        let isChanged = try await postgres.withTransaction { connection in
            let rows = try await connection.query(
                """
                UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC', provisional_until = NULL
                WHERE id = \(id)
                RETURNING email
                """
            )
            guard let email: String = try rows.first?.decode("email") else { return false }
            try await PhotoLibrary.endURLs(ofUser: id, on: connection)
            try await SessionStore.endAll(ofUser: id, by: nil, on: connection)
            // An attacker elsewhere may know the old password.
            try await KnownAddressStore.forgetAll(ofUser: id, on: connection)
            try await CodeStore.removeAll(ofUser: id, on: connection)
            let event = try await AuditStore.add(.passwordReplaced, userID: id, from: nil, on: connection)
            try await notices?.tell(.passwordChanged, to: email, of: event, on: connection)
            return true
        }
        if isChanged { notifier?.notify([.user(id), .deliveries]) }
        return isChanged
    }

    /// Changes an e-mail, which is not proven then.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - email: The new one, which keeps to the rules.
    /// - Returns: Whether there is such a user.
    /// - Throws: `InvalidInput` when another account has the e-mail, `PostgresError`.
    func changeEmail(ofUser id: Int, to email: String) async throws -> Bool {
        let isChanged = try await withTakenEmail {
            try await postgres.withTransaction { connection in
                guard let user = try await Self.lock(id, on: connection) else { return false }
                try await replaceEmail(of: user, by: email, isProven: false, from: nil, on: connection)
                return true
            }
        }
        if isChanged { notifier?.notify([.deliveries]) }
        return isChanged
    }

    /// Gives an account another address, and tells the old one.
    ///
    /// - Parameters:
    ///   - user: The account, locked by the transaction.
    ///   - email: The new address, which keeps to the rules.
    ///   - isProven: Whether the user has just proven it.
    ///   - source: Where the request came from; nil for an administrator.
    ///   - connection: In a transaction.
    /// - Throws: `InvalidInput` when another account has proven the address, `PostgresError`.
    func replaceEmail(
        of user: User,
        by email: String,
        isProven: Bool,
        from source: RequestSource?,
        on connection: PostgresConnection
    ) async throws {
        try await EmailStore.change(
            to: email,
            from: (user.email, user.isEmailProven),
            ofUser: user.id,
            isProven: isProven,
            on: connection
        )
        let event = try await AuditStore.add(.emailChanged, userID: user.id, from: source, on: connection)
        let kind: MailKind = user.isEmailProven ? .emailChanged : .emailRemoved
        try await notices?.tell(kind, to: user.email, of: event, on: connection)
    }
}
