import AESCrypt
import FoundationEssentials
import Hummingbird

/// Accounts and their tokens.
///
///     POST            /api/signup          Basic
///     POST            /api/signin          Basic
///     GET             /api/get_token       Basic
///     POST            /api/reset_password  Token
///     GET POST DELETE /api/clear_token     Token
///     DELETE          /api/account         Token
struct AccountRoutes: Sendable {
    let signUp: SignUp
    let signIn: SignIn
    let resetPassword: ResetPassword
    let deleteAccount: DeleteAccount
    let sessions: SessionStore
    let limiter: RateLimiter
    let sources: RequestSourceReader
    let cipher: AESCrypt
    let getsTokenWithoutPassword: Bool
    let now: @Sendable () -> Date

    private static let wrongCredentials = ServiceError.unauthorized("Wrong email or password")
    private static let wrongPassword = ServiceError.unauthorized("Wrong Password")

    /// Adds the routes that take the API's credential.
    func addBasicRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.post("signup", use: handleSignUp)
        group.post("signin", use: handleSignIn)
        group.get("get_token", use: handleGetToken)
    }

    /// Adds the routes that take a user's token.
    func addTokenRoutes(to group: RouterGroup<SessionRequestContext>) {
        group.post("reset_password", use: handleResetPassword)
        group.get("clear_token", use: handleClearToken)
        group.post("clear_token", use: handleClearToken)
        group.delete("clear_token", use: handleClearToken)
        group.delete("account", use: handleDeleteAccount)
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let user = try await signUp(
            fullName: try parameters.require("full_name"),
            email: try parameters.require("email"),
            password: Password(try parameters.require("password"), cipher: cipher),
            from: sources.source(of: request, context: context)
        )
        return .json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.lastName)
            json.member("email", user.email)
            json.member("api_authtoken", nil)
            json.member("authtoken_expiry", nil)
        }
    }

    @Sendable
    private func handleSignIn(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let attempt = try attempt(parameters, request: request, context: context)
        guard let (user, issued) = try await signIn(attempt) else { throw Self.wrongCredentials }
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleGetToken(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let attempt = try attempt(
            parameters,
            request: request,
            context: context,
            needsPassword: !getsTokenWithoutPassword
        )
        let network = attempt.source.address.network
        try await limiter.count(.getToken(network: network), ofUser: nil, from: attempt.source)
        let found = getsTokenWithoutPassword ? try await signIn.withoutPassword(attempt) : try await signIn(attempt)
        guard let (_, issued) = found else { throw Self.wrongCredentials }
        return Response.json { json in
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiryText)
        }.notStored()
    }

    private func attempt(
        _ parameters: RequestParameters,
        request: Request,
        context: ServiceRequestContext,
        needsPassword: Bool = true
    ) throws(ServiceError) -> SignInAttempt {
        let email = try parameters.require("email")
        let password = needsPassword ? Password(try parameters.require("password"), cipher: cipher) : nil
        return SignInAttempt(
            email: email,
            password: password,
            device: try DeviceLabel.of(parameter: parameters["device"], headers: request.headers),
            source: sources.source(of: request, context: context),
            changesNothing: request.method == .head
        )
    }

    @Sendable
    private func handleResetPassword(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let old = Password(try parameters.require("old_password"), cipher: cipher)
        let new = Password(try parameters.require("new_password"), cipher: cipher)
        try context.session.requireAlive(
            at: now(),
            otherwise: "Authtoken is invalid or has expired. Kindly refresh the token and try again!"
        )
        let changed = try await resetPassword(
            context.session,
            old: old,
            new: new,
            device: try DeviceLabel.of(parameter: parameters["device"], headers: request.headers),
            from: sources.source(of: request, context: context)
        )
        guard let (user, issued) = changed else { throw Self.wrongPassword }
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleClearToken(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let isForAll = try Self.flag("all", in: parameters)
        try context.session.requireAlive(at: now(), otherwise: "You don't have permission to do this task")
        let (session, source) = (context.session, sources.source(of: request, context: context))
        switch (request.method, isForAll) {
        case (.head, _): break
        case (_, true): try await sessions.endAll(ofUser: session.userID, from: source)
        case (_, false): try await sessions.end(id: session.id, ofUser: session.userID, as: .tokenCleared, from: source)
        }
        return .message("Token cleared")
    }

    /// A parameter that says yes or no, which not to give means as well.
    private static func flag(_ name: String, in parameters: RequestParameters) throws(ServiceError) -> Bool {
        guard let text = parameters[name]?.trimmingWhitespace(), !text.isEmpty else { return false }
        guard let value = Bool(settingText: text) else {
            throw ServiceError(status: .badRequest, message: "\(name) - is invalid,")
        }
        return value
    }

    @Sendable
    private func handleDeleteAccount(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let password = Password(try parameters.require("password"), cipher: cipher)
        try context.session.requireAlive(
            at: now(),
            otherwise: "Authtoken has expired. Please get a new token and try again!"
        )
        let isDeleted = try await deleteAccount(
            context.session,
            password: password,
            from: sources.source(of: request, context: context)
        )
        guard isDeleted else { throw Self.wrongPassword }
        return .message("Account deleted")
    }

    private static func response(user: User, issued: IssuedToken) -> Response {
        Response.json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.lastName)
            json.member("email", user.email)
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiryText)
        }.notStored()
    }
}
