import AESCrypt
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieAccounts
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
        let parameters = try await RequestParameters.read(from: request, context: context)
        return try await parts.useCases.accounts.signUp(
            name: try name(parameters),
            email: try parameters.require(.email),
            password: try password(.chosenPassword, parameters, context.notes),
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

    /// Begins a session for a user who gives the password.
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
        let parameters = try await RequestParameters.read(from: request, context: context)
        let password = try password(.password, parameters, context.notes)
        let session = try token.alive(otherwise: .tokenExpired)
        let source = parts.sources.source(of: request, context: context)
        guard try await parts.useCases.deleteAccount(session, password: password, from: source) else {
            throw Self.wrongPassword
        }
    }

    private func attempt(
        _ request: Request,
        _ context: ServiceRequestContext,
        needsPassword: Bool
    ) async throws -> SignInAttempt {
        var parameters = try await RequestParameters.read(from: request, context: context)
        if !needsPassword { parameters = parameters.without(.password) }
        return SignInAttempt(
            email: try parameters.require(.accountEmail),
            password: needsPassword ? try password(.password, parameters, context.notes) : nil,
            device: try Self.device(parameters, request),
            source: parts.sources.source(of: request, context: context),
            isRemembered: takesMore ? try parameters.flag(.remember) : false,
            changesNothing: request.method == .head
        )
    }

    /// The password of a parameter; nil for one that can't be decrypted.
    ///
    /// Only the log and a count have the reason.
    private func password(
        _ parameter: Endpoint.Parameter,
        _ parameters: RequestParameters,
        _ notes: RequestNotes
    ) throws(ServiceError) -> Password? {
        let text = try parameters.require(parameter)
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
    private static func device(_ parameters: RequestParameters, _ request: Request) throws(ServiceError) -> String? {
        if let label = try parameters.text(.device), !label.isEmpty { return label }
        return DeviceLabel.of(userAgent: request.headers[.userAgent])
    }
}
