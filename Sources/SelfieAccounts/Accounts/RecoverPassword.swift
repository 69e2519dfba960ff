import Encodings
import FoundationEssentials

/// Gives an account a new password, for a user who has forgotten it, with a code.
package struct RecoverPassword: Sendable {
    let find: FindAccount
    let users: UserStore
    let check: CodeCheck
    let hasher: PasswordHasher
    let lifetimes: SessionLifetimes
    let now: @Sendable () -> Date

    /// Replaces the password, ends all sessions and photos' URLs, and begins a session.
    ///
    /// With a code that was sent to an address that the account had until a short time ago, that becomes its address again.
    ///
    /// - Parameters:
    ///   - email: The address, as the client sent it.
    ///   - code: The code, as the client sent it.
    ///   - new: The new password; nil for one that could not be decrypted.
    ///   - device: The label of the new session, for its user.
    ///   - source: Where the request came from.
    /// - Returns: The account and its new token.
    /// - Throws: `InvalidInput` about the new password, before the code is tried; `CodeError.invalid`,
    ///   `AccountError.disabled` if the code is right, `RateLimitExceeded`, `TooBusy`, `PostgresError`.
    package func callAsFunction(
        email: String,
        code: String,
        new: Password?,
        device: String?,
        from source: RequestSource
    ) async throws -> (user: User, issued: IssuedToken) {
        let new = try Password.checked(new)
        let account = try await find(email: email, for: .reset, from: source)
        return try await check(.init(code, for: .reset, of: account, from: source)) { code in
            guard let user = account.user else { return nil }
            guard !user.isDisabled else { throw AccountError.disabled }
            let hash = try await hasher.hash(new, for: source.caller(account.name))
            let issued = IssuedToken(date: now(), lifetime: lifetimes.usual)
            let recovered = try await users.recover(
                user.id,
                by: UserStore.CodeRecovery(
                    code: code,
                    formerEmail: account.formerEmail,
                    passwordHash: hash,
                    issued: issued,
                    device: device,
                    source: source
                )
            )
            return recovered.map { ($0, issued) }
        }
    }
}

/// Gives an account without a password its first one, for a user with a token and a code.
package struct SetFirstPassword: Sendable {
    let users: UserStore
    let check: CodeCheck
    let hasher: PasswordHasher

    /// Sessions stay valid.
    ///
    /// - Parameters:
    ///   - session: The session of the account's user.
    ///   - code: The code, as the client sent it.
    ///   - new: The new password; nil for one that could not be decrypted.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `InvalidInput` about the new password, `AccountError.hasPassword`, `CodeError.invalid`,
    ///   `SessionError.ended` when the account is deleted or disabled, `RateLimitExceeded`, `TooBusy`, `PostgresError`.
    package func callAsFunction(
        _ session: Session,
        code: String,
        new: Password?,
        from source: RequestSource
    ) async throws -> User {
        let new = try Password.checked(new)
        guard let user = try await users.find(id: session.userID), !user.isDisabled else { throw SessionError.ended }
        guard !user.hasPassword else { throw AccountError.hasPassword }
        return try await check(.init(code, for: .reset, by: session, from: source)) { code in
            let hash = try await hasher.hash(new, for: source.caller(.user(id: user.id)))
            return try await users.setFirstPassword(hash, ofUser: user.id, by: code, from: source)
        }
    }
}
