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
struct AccountRoutes: Sendable {
    let signUp: SignUp
    let signIn: SignIn
    let resetPassword: ResetPassword
    let sessions: SessionStore
    let cipher: AESCrypt
    let getsTokenWithoutPassword: Bool
    let now: @Sendable () -> Date

    private static let wrongCredentials = ServiceError.unauthorized("Wrong email or password")

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
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let user = try await signUp(
            fullName: try parameters.require("full_name"),
            email: try parameters.require("email"),
            password: Password(try parameters.require("password"), cipher: cipher)
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
        let email = try parameters.require("email")
        let password = Password(try parameters.require("password"), cipher: cipher)
        guard let (user, issued) = try await signIn(email: email, password: password) else {
            throw Self.wrongCredentials
        }
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleGetToken(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let email = try parameters.require("email")
        let isHead = request.method == .head
        let found: (user: User, issued: IssuedToken)?
        if getsTokenWithoutPassword {
            found = try await signIn.withoutPassword(email: email, changesNothing: isHead)
        } else {
            let password = Password(try parameters.require("password"), cipher: cipher)
            found = try await signIn(email: email, password: password, changesNothing: isHead)
        }
        guard let (_, issued) = found else { throw Self.wrongCredentials }
        return Response.json { json in
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiryText)
        }.notStored()
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
        guard let (user, issued) = try await resetPassword(userID: context.session.userID, old: old, new: new) else {
            throw ServiceError.unauthorized("Wrong Password")
        }
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleClearToken(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        try context.session.requireAlive(at: now(), otherwise: "You don't have permission to do this task")
        switch (request.method, parameters["all"]) {
        case (.head, _): break
        case (_, "true"): try await sessions.endAll(ofUser: context.session.userID)
        default: try await sessions.end(id: context.session.id)
        }
        return .message("Token cleared")
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
