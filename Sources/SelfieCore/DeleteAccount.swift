package import SelfieAccounts

/// Removes an account with everything that belongs to it, for a user who gives the password or a code.
package struct DeleteAccount: Sendable {
    let users: UserStore
    let removeAccount: RemoveAccount
    let check: PasswordCheck
    let codeCheck: CodeCheck

    /// Removes the account.
    ///
    /// - Parameters:
    ///   - session: The session of the account's user.
    ///   - proof: The password, or a code for signing in.
    ///   - source: Where the request came from.
    /// - Returns: Whether the password was right. Then the account is deleted, or closed while its records are being
    ///   deleted.
    /// - Throws: `RateLimitExceeded`, `CodeError.invalid`, `SessionError.ended` when the session has ended or the account is deleted
    ///   or disabled, `PostgresError`, `TooBusy`.
    package func callAsFunction(_ session: Session, by proof: AccountProof, from source: RequestSource) async throws
        -> Bool
    {
        switch proof {
        case .password(let password): return try await delete(session, password: password, from: source)
        case .code(let code):
            try await codeCheck(.init(code, for: .signIn, by: session, from: source)) { code -> Void? in
                let isDeleted = try await removeAccount(
                    userID: session.userID,
                    passwordHash: nil,
                    code: code,
                    sessionID: session.id,
                    isWhole: false
                )
                return isDeleted ? () : nil
            }
            return true
        }
    }

    private func delete(_ session: Session, password: Password?, from source: RequestSource) async throws -> Bool {
        let deleted: Void? = try await check(
            password,
            for: PasswordCheck.Purpose(by: session, failure: .accountDeletionFailed, source: source),
            find: { _ in try await users.find(id: session.userID) },
            require: { user in
                guard let user, !user.isDisabled else { throw SessionError.ended }
            },
            use: { user, _ in
                let isDeleted = try await removeAccount(
                    userID: user.id,
                    passwordHash: user.passwordHash,
                    sessionID: session.id,
                    isWhole: false
                )
                return isDeleted ? () : nil
            }
        )
        return deleted != nil
    }
}
