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
            let count = try await connection.execute(
                "UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC' WHERE id = \(id)"
            )
            guard count == 1 else { return false }
            try await PhotoLibrary.endURLs(ofUser: id, on: connection)
            try await SessionStore.endAll(ofUser: id, by: nil, on: connection)
            // An attacker elsewhere may know the old password.
            try await KnownAddressStore.forgetAll(ofUser: id, on: connection)
            try await AuditStore.add(.passwordReplaced, userID: id, from: nil, on: connection)
            return true
        }
        if isChanged { notifier?.notify([.user(id)]) }
        return isChanged
    }

    /// Changes an e-mail.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - email: The new one, which keeps to the rules.
    /// - Returns: Whether there is such a user.
    /// - Throws: `InvalidInput` when another account has the e-mail, `PostgresError`.
    func changeEmail(ofUser id: Int, to email: String) async throws -> Bool {
        do {
            return try await postgres.withTransaction { connection in
                let count = try await connection.execute(
                    "UPDATE users SET email = \(email), updated_at = now() AT TIME ZONE 'UTC' WHERE id = \(id)"
                )
                guard count == 1 else { return false }
                try await AuditStore.add(.emailChanged, userID: id, from: nil, on: connection)
                return true
            }
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            throw InvalidInput(validationErrors: [ValidationError(.email, .taken)])
        }
    }
}
