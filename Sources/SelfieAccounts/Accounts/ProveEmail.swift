import Encodings
import FoundationEssentials
import JSON
import Mail

/// What shows that a request with a token comes from the account's user.
package enum AccountProof: Sendable {
    /// Nil for one that could not be decrypted.
    case password(Password?)
    /// A code for signing in.
    case code(String)
}

/// Asks for a code to a new address of an account, or to the present one to prove it.
package struct RequestEmailChange: Sendable {
    let users: UserStore
    let codes: CodeStore
    let passwordCheck: PasswordCheck
    let codeCheck: CodeCheck
    let accountLimiter: RateLimiter

    /// Sends a code to the address, and tells the present one.
    ///
    /// It does not tell whether another account has the address.
    ///
    /// - Parameters:
    ///   - session: The session of the account's user.
    ///   - email: The new address, as the client sent it.
    ///   - proof: The password, or a code for signing in.
    ///   - source: Where the request came from.
    /// - Returns: Whether the password was right.
    /// - Throws: `InvalidInput` about the address, `CodeError.invalid`, `RateLimitExceeded`, `SessionError.ended` when the
    ///   account is deleted or disabled, `TooBusy`, `PostgresError`.
    package func callAsFunction(
        _ session: Session,
        to email: String,
        by proof: AccountProof,
        from source: RequestSource
    ) async throws -> Bool {
        let email = email.trimmingWhitespace()
        var validationErrors = NewUser.validationErrors(ofEmail: email)
        if validationErrors.isEmpty, (try? MailAddress(email)) == nil {
            validationErrors = [ValidationError(.email, .invalid)]
        }
        guard validationErrors.isEmpty else { throw InvalidInput(validationErrors: validationErrors) }
        switch proof {
        case .password(let password):
            let begun: Void? = try await passwordCheck(
                password,
                for: PasswordCheck.Purpose(by: session, failure: .signInFailed, source: source),
                find: { _ in try await users.find(id: session.userID) },
                use: { user, _ in try await begin(email, of: user, code: nil, from: source) }
            )
            return begun != nil
        case .code(let code):
            try await codeCheck(.init(code, for: .signIn, by: session, from: source)) { code in
                guard let user = try await users.find(id: session.userID) else { throw SessionError.ended }
                return try await begin(email, of: user, code: code, from: source)
            }
            return true
        }
    }

    /// Counts and sends the code; nil when password or code were changed meanwhile.
    private func begin(
        _ email: String,
        of user: User,
        code: WaitingCode?,
        from source: RequestSource
    ) async throws -> Void? {
        guard !user.isDisabled else { throw SessionError.ended }
        let counted = try await accountLimiter.count(
            [.codeToNewAddress(userID: user.id), .code(to: email)],
            ofUser: user.id,
            from: source
        )
        return try await accountLimiter.givingBack(
            counted,
            onFailureOf: {
                try await users.beginEmailChange(to: email, of: user, by: code, codes: codes, from: source) ? () : nil
            }
        )
    }
}

/// Gives an account the address that a code proves.
package struct ConfirmEmail: Sendable {
    let users: UserStore
    let check: CodeCheck

    /// Changes the address, or notes that the present one is proven.
    ///
    /// Sessions stay valid. Another account that has the address without a proof loses it.
    ///
    /// - Parameters:
    ///   - session: The session of the account's user.
    ///   - code: The code, as the client sent it.
    ///   - source: Where the request came from.
    /// - Returns: The account.
    /// - Throws: `CodeError.invalid`, `InvalidInput` when another account has proven the address, `RateLimitExceeded`,
    ///   `PostgresError`.
    package func callAsFunction(_ session: Session, code: String, from source: RequestSource) async throws -> User {
        try await check(.init(code, for: .email, by: session, from: source)) { code in
            guard let email = code.email else { return nil }
            return try await users.confirmEmail(email, ofUser: session.userID, by: code, from: source)
        }
    }
}
