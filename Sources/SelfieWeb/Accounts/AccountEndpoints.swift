import AESCrypt
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieCore

/// Accounts and their tokens.
struct AccountEndpoints: EndpointGroup {
    private let useCases: UseCases
    private let sources: RequestSourceReader
    private let cipher: AESCrypt
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "signUp",
            .accounts,
            .post,
            "/api/signup",
            .basic(handleSignUp),
            "Make an account",
            details: "Nobody is signed in by it: call `signIn` next.",
            limitedBy: [.signUpPerAddress],
            takes: [.fullName, .email, .chosenPassword],
            answers: [.ok("The account.", .object(Member.user + Member.noToken))],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "signIn",
            .accounts,
            .post,
            "/api/signin",
            .basic(handleSignIn),
            "Sign in",
            details: "Begins a session of its own, and leaves the user's other sessions alone.",
            limitedBy: [.signInPerAccount, .signInPerAddress, .passwordTriesPerAccount],
            takes: [.accountEmail, .password, .device],
            answers: [.ok("The account, with a token.", .object(Member.user + Member.token))],
            refuses: [wrongCredentials, .accountDisabled, .tooManyRequests]
        ),
        HandledEndpoint(
            "getToken",
            .accounts,
            .get,
            "/api/get_token",
            .basic(handleGetToken),
            "Get a new token",
            details: """
                Begins a session, as `signIn` does. With `GET_TOKEN_WITHOUT_PASSWORD=true` the service takes no password \
                here.
                """,
            changesState: true,
            limitedBy: [
                .getTokenPerAddress, .signInPerAccount, .signInPerAddress, .passwordTriesPerAccount,
            ],
            takes: [.accountEmail, .password, .device],
            answers: [.ok("The token.", .object(Member.token))],
            refuses: [wrongCredentials, .accountDisabled, .tooManyRequests]
        ),
        HandledEndpoint(
            "resetPassword",
            .accounts,
            .post,
            "/api/reset_password",
            .token(handleResetPassword),
            "Change the password",
            details: "Ends all sessions of the user and all URLs of photos, and begins a new session.",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount],
            takes: [.oldPassword, .newPassword, .device],
            answers: [.ok("The account, with a new token.", .object(Member.user + Member.token))],
            refuses: [tokenExpiredForReset, wrongPassword]
        ),
        clearToken(.get, "signOut", "Sign out"),
        clearToken(.post, "signOutByPost", "Sign out by POST"),
        clearToken(.delete, "signOutByDelete", "Sign out by DELETE"),
        HandledEndpoint(
            "deleteAccount",
            .accounts,
            .delete,
            "/api/account",
            .token(handleDeleteAccount),
            "Delete the account",
            details: "Deletes the account with all its photos. Nothing brings them back.",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount],
            takes: [.password],
            answers: [.message(accountDeleted)],
            refuses: [.tokenExpired, wrongPassword]
        ),
    ]

    private static func clearToken(_ method: HTTPRequest.Method, _ name: String, _ summary: String) -> HandledEndpoint<
        Self
    > {
        HandledEndpoint(
            name,
            .accounts,
            method,
            "/api/clear_token",
            .token(handleClearToken),
            summary,
            details: "Ends the session of the token, or with `all=true` all of the user's sessions and URLs of photos.",
            changesState: true,
            takes: [.all],
            answers: [.message(tokenCleared)],
            refuses: [tokenExpiredForClearing]
        )
    }

    private typealias Member = Endpoint.Answer.Member

    private static let wrongCredentials = ServiceError(
        status: .unauthorized,
        code: "email_or_password_wrong",
        message: "Wrong email or password"
    )
    private static let wrongPassword = ServiceError(
        status: .unauthorized,
        code: "password_wrong",
        message: "Wrong Password"
    )
    private static let tokenExpiredForReset = ServiceError.tokenExpired(
        "Authtoken is invalid or has expired. Kindly refresh the token and try again!"
    )
    private static let tokenExpiredForClearing = ServiceError.tokenExpired(
        "You don't have permission to do this task"
    )
    private static let tokenCleared = "Token cleared"
    private static let accountDeleted = "Account deleted"

    init(_ parts: WebParts) {
        useCases = parts.useCases
        sources = parts.sources
        cipher = parts.cipher
        now = parts.now
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let user = try await useCases.signUp(
            fullName: try parameters.require(.fullName),
            email: try parameters.require(.email),
            password: try password(.chosenPassword, parameters, context.notes),
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
        let attempt = try await attempt(request, context: context, needsPassword: true)
        guard let (user, issued) = try await useCases.signIn(attempt) else { throw Self.wrongCredentials }
        context.notes.note(userID: user.id)
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleGetToken(request: Request, context: ServiceRequestContext) async throws -> Response {
        let attempt = try await attempt(request, context: context, needsPassword: useCases.getToken.needsPassword)
        guard let (user, issued) = try await useCases.getToken(attempt) else { throw Self.wrongCredentials }
        context.notes.note(userID: user.id)
        return Response.json { json in
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiry.contractText)
        }.notStored()
    }

    private func attempt(
        _ request: Request,
        context: ServiceRequestContext,
        needsPassword: Bool
    ) async throws -> SignInAttempt {
        let parameters = try await RequestParameters.read(from: request, context: context)
        return SignInAttempt(
            email: try parameters.require(.accountEmail),
            password: needsPassword ? try password(.password, parameters, context.notes) : nil,
            device: try Self.device(parameters, request),
            source: sources.source(of: request, context: context),
            changesNothing: request.method == .head
        )
    }

    /// The password of a parameter; nil for one that can't be decrypted, of which only the log and the count tell why.
    private func password(
        _ parameter: Endpoint.Parameter,
        _ parameters: RequestParameters,
        _ notes: RequestNotes
    ) throws(ServiceError) -> Password? {
        let text = try parameters.require(parameter)
        if let password = Password(text, cipher: cipher) { return password }
        let problem = cipher.problem(with: text)
        notes.note(undecryptablePassword: problem.rawValue)
        useCases.undecryptablePasswords.note(problem)
        return nil
    }

    /// The label of a new session: the client's own, or its `User-Agent`.
    private static func device(_ parameters: RequestParameters, _ request: Request) throws(ServiceError) -> String? {
        if let label = try parameters.text(.device), !label.isEmpty { return label }
        return DeviceLabel.of(userAgent: request.headers[.userAgent])
    }

    @Sendable
    private func handleResetPassword(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let old = try password(.oldPassword, parameters, context.notes)
        let new = try password(.newPassword, parameters, context.notes)
        let session = try context.session.alive(at: now(), otherwise: Self.tokenExpiredForReset)
        let changed = try await useCases.resetPassword(
            session,
            old: old,
            new: new,
            device: try Self.device(parameters, request),
            from: sources.source(of: request, context: context)
        )
        guard let (user, issued) = changed else { throw Self.wrongPassword }
        return Self.response(user: user, issued: issued)
    }

    @Sendable
    private func handleClearToken(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let isForAll = try parameters.flag(.all)
        let session = try context.session.alive(at: now(), otherwise: Self.tokenExpiredForClearing)
        let source = sources.source(of: request, context: context)
        switch (request.method, isForAll) {
        case (.head, _): break
        case (_, true): try await useCases.clearTokens.all(by: session, from: source)
        case (_, false): try await useCases.clearTokens(session, from: source)
        }
        return .message(Self.tokenCleared)
    }

    @Sendable
    private func handleDeleteAccount(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let password = try password(.password, parameters, context.notes)
        let session = try context.session.alive(at: now(), otherwise: .tokenExpired)
        let source = sources.source(of: request, context: context)
        guard try await useCases.deleteAccount(session, password: password, from: source) else {
            throw Self.wrongPassword
        }
        return .message(Self.accountDeleted)
    }

    private static func response(user: User, issued: IssuedToken) -> Response {
        Response.json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.lastName)
            json.member("email", user.email)
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiry.contractText)
        }.notStored()
    }
}
