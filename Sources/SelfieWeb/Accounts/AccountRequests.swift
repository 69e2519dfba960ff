import AESCrypt
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieAccounts
import SelfieConfiguration
import SelfieCore

/// Reads the requests of calls about accounts, and does what they ask for.
///
/// The API and the gallery differ in the form of passwords and of tokens, and in nothing else.
struct AccountRequests: Sendable {
    /// How clients send passwords.
    enum PasswordForm: Sendable {
        /// Encrypted with the API's password.
        case encrypted(AESCrypt)
        /// As they are, from the service's own pages.
        case plain
    }

    private let parts: WebParts
    private let passwords: PasswordForm
    private let takesMore: Bool

    static let wrongCredentials = ServiceError(
        status: .unauthorized,
        code: "email_or_password_wrong",
        message: "Wrong email or password"
    )
    static let signInRefusals = [
        wrongCredentials, .codeInvalid, .accountDisabled, .emailUnverified, .tooManyRequests,
    ]
    static let wrongPassword = ServiceError(
        status: .unauthorized,
        code: "password_wrong",
        message: "Wrong Password"
    )

    /// - Parameters:
    ///   - parts: What the endpoints share.
    ///   - passwords: How clients send passwords.
    ///   - takesMore: Whether clients may ask for a remembered session, and sign up with a profile.
    init(_ parts: WebParts, passwords: PasswordForm, takesMore: Bool) {
        self.parts = parts
        self.passwords = passwords
        self.takesMore = takesMore
    }

    /// Makes an account.
    func signUp(_ request: Request, _ context: ServiceRequestContext) async throws -> User {
        var parameters = try await RequestParameters.read(from: request, context: context)
        let hasPassword =
            try !takesMore || !parts.settings.signsUpWithoutPassword
            || parameters.optional(.chosenPassword) != nil
        if hasPassword { parameters = parameters.requiring([.chosenPassword]) }
        return try await parts.useCases.accounts.signUp(
            name: try name(parameters),
            email: try parameters.require(.email),
            password: hasPassword ? .password(try password(.chosenPassword, parameters, context.notes)) : .none,
            profile: takesMore
                ? NewProfile(title: try parameters.optional(.memberTitle), fields: parameters.json(.memberFields))
                : NewProfile(),
            from: parts.sources.source(of: request, context: context)
        )
    }

    /// The name of a new account.
    ///
    /// A full name wins, and the others are ignored.
    private func name(_ parameters: RequestParameters) throws(ServiceError) -> NewName {
        guard takesMore else { return .full(try parameters.require(.fullName)) }
        if let fullName = try parameters.optional(.fullNameOrNames) { return .full(fullName) }
        let (first, last) = (try parameters.optional(.firstName), try parameters.optional(.lastName))
        switch (first, last) {
        case (let first?, let last?): return .parts(first: first, last: last)
        case (nil, nil): throw parameters.missing([Endpoint.Parameter.fullNameOrNames.name])
        case (nil, _): throw parameters.missing([Endpoint.Parameter.firstName.name])
        case (_, nil): throw parameters.missing([Endpoint.Parameter.lastName.name])
        }
    }

    /// Begins a session for a user who gives the password or a code.
    func signIn(
        _ request: Request,
        _ context: ServiceRequestContext
    ) async throws -> (user: User, issued: IssuedToken) {
        let attempt = try await attempt(request, context, needsPassword: true)
        guard let (user, issued) = try await parts.useCases.accounts.signIn(attempt) else {
            throw Self.wrongCredentials
        }
        context.notes.note(userID: user.id)
        return (user, issued)
    }

    /// Begins a session as `get_token` does, which may need no password.
    func getToken(_ request: Request, _ context: ServiceRequestContext) async throws -> IssuedToken {
        let attempt = try await attempt(request, context, needsPassword: parts.useCases.accounts.getToken.needsPassword)
        guard let (user, issued) = try await parts.useCases.accounts.getToken(attempt) else {
            throw Self.wrongCredentials
        }
        context.notes.note(userID: user.id)
        return issued
    }

    /// Changes the password, ends all sessions and begins a new one.
    ///
    /// An expired token gets the refusal `expired`.
    func resetPassword(
        _ request: Request,
        _ context: ServiceRequestContext,
        _ token: TokenSession,
        expired: ServiceError
    ) async throws -> (user: User, issued: IssuedToken) {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let old = try password(.oldPassword, parameters, context.notes)
        let new = try password(.newPassword, parameters, context.notes)
        let session = try token.alive(otherwise: expired)
        let changed = try await parts.useCases.accounts.resetPassword(
            session,
            old: old,
            new: new,
            device: try Self.device(parameters, request),
            from: parts.sources.source(of: request, context: context)
        )
        guard let changed else { throw Self.wrongPassword }
        return changed
    }

    /// Ends the session, or all of the user's.
    ///
    /// An expired token gets the refusal `expired`.
    func signOut(
        _ request: Request,
        _ context: ServiceRequestContext,
        _ token: TokenSession,
        expired: ServiceError
    ) async throws {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let isForAll = try parameters.flag(.all)
        let session = try token.alive(otherwise: expired)
        let source = parts.sources.source(of: request, context: context)
        switch (request.method, isForAll) {
        case (.head, _): break
        case (_, true): try await parts.useCases.accounts.clearTokens.all(by: session, from: source)
        case (_, false): try await parts.useCases.accounts.clearTokens(session, from: source)
        }
    }

    /// Deletes the account with all its photos.
    func deleteAccount(_ request: Request, _ context: ServiceRequestContext, _ token: TokenSession) async throws {
        let parameters = try requiringProof(try await RequestParameters.read(from: request, context: context))
        let proof = try proof(parameters, context.notes)
        let session = try token.alive(otherwise: .tokenExpired)
        let source = parts.sources.source(of: request, context: context)
        guard try await parts.useCases.deleteAccount(session, by: proof, from: source) else {
            throw Self.wrongPassword
        }
    }

    // MARK: - Codes

    /// Sends a code, if there is such an account.
    func requestCode(_ request: Request, _ context: ServiceRequestContext) async throws {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let email = try parameters.require(.accountEmail)
        guard let purpose = CodePurpose(rawValue: try parameters.require(.purpose)),
            [.signIn, .reset].contains(purpose)
        else { throw Endpoint.Parameter.purpose.invalid }
        let source = parts.sources.source(of: request, context: context)
        try await parts.useCases.accounts.requestCode(purpose, email: email, from: source)
    }

    /// Gives an account a new password with a code, and begins a session.
    func recoverPassword(
        _ request: Request,
        _ context: ServiceRequestContext
    ) async throws -> (user: User, issued: IssuedToken) {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let recovered = try await parts.useCases.accounts.recoverPassword(
            email: try parameters.require(.accountEmail),
            code: try parameters.require(.code),
            new: try password(.newPassword, parameters, context.notes),
            device: try Self.device(parameters, request),
            from: parts.sources.source(of: request, context: context)
        )
        context.notes.note(userID: recovered.user.id)
        return recovered
    }

    /// Sends a code to a new address.
    func changeEmail(_ request: Request, _ context: ServiceRequestContext, _ token: TokenSession) async throws {
        let parameters = try requiringProof(try await RequestParameters.read(from: request, context: context))
        let email = try parameters.require(.newEmail)
        let proof = try proof(parameters, context.notes)
        let isRight = try await parts.useCases.accounts.requestEmailChange(
            try token.alive(otherwise: .tokenExpired),
            to: email,
            by: proof,
            from: parts.sources.source(of: request, context: context)
        )
        guard isRight else { throw Self.wrongPassword }
    }

    /// Gives the account the address that a code proves.
    func confirmEmail(
        _ request: Request,
        _ context: ServiceRequestContext,
        _ token: TokenSession
    ) async throws -> User {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let code = try parameters.require(.code)
        return try await parts.useCases.accounts.confirmEmail(
            try token.alive(otherwise: .tokenExpired),
            code: code,
            from: parts.sources.source(of: request, context: context)
        )
    }

    /// Gives an account without a password its first one.
    func setPassword(
        _ request: Request,
        _ context: ServiceRequestContext,
        _ token: TokenSession
    ) async throws -> User {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let code = try parameters.require(.code)
        let new = try password(.newPassword, parameters, context.notes)
        return try await parts.useCases.accounts.setFirstPassword(
            try token.alive(otherwise: .tokenExpired),
            code: code,
            new: new,
            from: parts.sources.source(of: request, context: context)
        )
    }

    // MARK: - Parameters

    /// The same parameters, of which the password is needed unless there is a code.
    func requiringProof(_ parameters: RequestParameters) throws(ServiceError) -> RequestParameters {
        parameters.requiring(try code(parameters) == nil ? [.passwordOrCode] : [])
    }

    /// A password, or a code.
    func proof(_ parameters: RequestParameters, _ notes: RequestNotes) throws(ServiceError) -> AccountProof {
        if let code = try code(parameters) { return .code(code) }
        return .password(try password(.passwordOrCode, parameters, notes))
    }

    /// The code that stands for a password; nil where there is none, or no mail is sent.
    private func code(_ parameters: RequestParameters) throws(ServiceError) -> String? {
        parts.settings.mail == nil ? nil : try parameters.optional(.codeOrPassword)
    }

    private func attempt(
        _ request: Request,
        _ context: ServiceRequestContext,
        needsPassword: Bool
    ) async throws -> SignInAttempt {
        var parameters = try await RequestParameters.read(from: request, context: context)
        if needsPassword { parameters = try requiringProof(parameters) }
        return SignInAttempt(
            email: try parameters.require(.accountEmail),
            proof: try signInProof(parameters, context.notes, needsPassword: needsPassword),
            device: try Self.device(parameters, request),
            source: parts.sources.source(of: request, context: context),
            isRemembered: takesMore ? try parameters.flag(.remember) : false,
            changesNothing: request.method == .head
        )
    }

    private func signInProof(
        _ parameters: RequestParameters,
        _ notes: RequestNotes,
        needsPassword: Bool
    ) throws(ServiceError) -> SignInAttempt.Proof {
        let code = try code(parameters)
        guard needsPassword else { return code.map { .code($0) } ?? .none }
        guard let code else { return .password(try password(.passwordOrCode, parameters, notes)) }
        guard try parameters.optional(.passwordOrCode) != nil else { return .code(code) }
        return .passwordAndCode(try password(.passwordOrCode, parameters, notes), code)
    }

    /// The password of a parameter; nil for one that can't be decrypted.
    ///
    /// Only the log and a count have the reason.
    func password(
        _ parameter: Endpoint.Parameter,
        _ parameters: RequestParameters,
        _ notes: RequestNotes
    ) throws(ServiceError) -> Password? {
        guard let text = try parameters.optional(parameter) else { throw parameters.missing() }
        switch passwords {
        case .plain: return Password(text)
        case .encrypted(let cipher):
            if let password = Password(text, cipher: cipher) { return password }
            let error = cipher.failure(of: text)
            notes.note(undecryptablePassword: error.rawValue)
            parts.useCases.accounts.undecryptablePasswords.note(error)
            return nil
        }
    }

    /// The label of a new session: the client's own, or its `User-Agent`.
    static func device(_ parameters: RequestParameters, _ request: Request) throws(ServiceError) -> String? {
        if let label = try parameters.text(.device), !label.isEmpty { return label }
        return DeviceLabel.of(userAgent: request.headers[.userAgent])
    }
}
