import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieRecords

/// Accounts and their tokens.
struct AccountEndpoints: EndpointGroup {
    private let requests: AccountRequests

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "signUp",
            .accounts,
            .post,
            "/api/signup",
            .basic(handleSignUp),
            "Create an account",
            details: """
                It does not sign the user in: call `signIn` next. Without a password, which only some services allow, it sends a \
                code for that. The account then goes after a day, unless its user has signed in.
                """,
            limitedBy: [.signUpPerAddress, .signInPerAccount, .codesPerAccount],
            takes: [
                .fullNameOrNames, .firstName, .lastName, .email, .chosenPassword, .memberTitle, .memberFields,
            ],
            answers: [.ok("The account.", .object(Member.user + Member.noToken + [Member.id]))],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "signIn",
            .accounts,
            .post,
            "/api/signin",
            .basic(handleSignIn),
            "Sign in",
            details: """
                Starts a new session. The user's other sessions stay valid. Takes the password, or a code from `requestCode`, \
                or both.

                A code verifies the e-mail address. The first one ends password and sessions of an account whose address was \
                never verified: somebody else may have created it. They stay if the password is sent, too, or if the account \
                was used from this network before.
                """,
            limitedBy: [.signInPerAccount, .signInPerAddress, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.accountEmail, .passwordOrCode, .codeOrPassword, .device, .remember],
            answers: [.ok("The account, with a token.", .object(Member.user + Member.token + [Member.id]))],
            refuses: AccountRequests.signInRefusals
        ),
        HandledEndpoint(
            "getToken",
            .accounts,
            .get,
            "/api/get_token",
            .basic(handleGetToken),
            "Get a new token",
            details: """
                Starts a session, as `signIn` does. With `GET_TOKEN_WITHOUT_PASSWORD=true`, this call needs no password.
                """,
            changesState: true,
            limitedBy: [
                .getTokenPerAddress, .signInPerAccount, .signInPerAddress, .passwordTriesPerAccount,
                .codeTriesPerAccount,
            ],
            takes: [.accountEmail, .passwordOrCode, .codeOrPassword, .device, .remember],
            answers: [.ok("The token.", .object(Member.token))],
            refuses: AccountRequests.signInRefusals
        ),
        HandledEndpoint(
            "resetPassword",
            .accounts,
            .post,
            "/api/reset_password",
            .tokenAfterParameters(handleResetPassword),
            "Change the password",
            details: "Ends all of the user's sessions and photo URLs, and starts a new session.",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount],
            takes: [.oldPassword, .newPassword, .device],
            answers: [.ok("The account, with a new token.", .object(Member.user + Member.token + [Member.id]))],
            refuses: [tokenExpiredForReset, AccountRequests.wrongPassword]
        ),
        clearToken(.get, "signOut", "Sign out"),
        clearToken(.post, "signOutByPost", "Sign out"),
        clearToken(.delete, "signOutByDelete", "Sign out"),
        HandledEndpoint(
            "deleteAccount",
            .accounts,
            .delete,
            "/api/account",
            .tokenAfterParameters(handleDeleteAccount),
            "Delete the account",
            details: "Deletes the account with all its photos and records. This can't be undone.",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.passwordOrCode, .codeOrPassword],
            answers: [.message(accountDeleted)],
            refuses: [.tokenExpired, .parametersMissing, AccountRequests.wrongPassword, .codeInvalid]
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
            .tokenAfterParameters(handleClearToken),
            summary,
            details: "Ends the token's session. With `all=true`, it ends all of the user's sessions and photo URLs.",
            changesState: true,
            takes: [.all],
            answers: [.message(tokenCleared)],
            refuses: [tokenExpiredForClearing]
        )
    }

    private typealias Member = Endpoint.Answer.Member

    private static let tokenExpiredForReset = ServiceError.tokenExpired(
        "Authtoken is invalid or has expired. Kindly refresh the token and try again!"
    )
    private static let tokenExpiredForClearing = ServiceError.tokenExpired(
        "You don't have permission to do this task"
    )
    private static let tokenCleared = "Token cleared"
    private static let accountDeleted = "Account deleted"

    init(_ parts: WebParts) {
        requests = AccountRequests(parts, passwords: .encrypted(parts.cipher), takesMore: true)
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        .json(of: try await requests.signUp(request, context), token: nil)
    }

    @Sendable
    private func handleSignIn(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await requests.signIn(request, context)
        return .json(of: user, token: issued)
    }

    @Sendable
    private func handleGetToken(request: Request, context: ServiceRequestContext) async throws -> Response {
        let issued = try await requests.getToken(request, context)
        return Response.json { json in
            json.member("api_authtoken", issued.token)
            json.member("authtoken_expiry", issued.expiry.contractText)
        }.notStored()
    }

    @Sendable
    private func handleResetPassword(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        let expired = Self.tokenExpiredForReset
        let (user, issued) = try await requests.resetPassword(request, context, token, expired: expired)
        return .json(of: user, token: issued)
    }

    @Sendable
    private func handleClearToken(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await requests.signOut(request, context, token, expired: Self.tokenExpiredForClearing)
        return .message(Self.tokenCleared)
    }

    @Sendable
    private func handleDeleteAccount(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await requests.deleteAccount(request, context, token)
        return .message(Self.accountDeleted)
    }
}

extension Response {
    /// An account as railsauth's calls answer it, perhaps with a new token.
    static func json(of user: User, token issued: IssuedToken?) -> Response {
        let response = Response.json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.railsLastName)
            json.member("email", user.email)
            json.member("api_authtoken", issued?.token)
            json.member("authtoken_expiry", issued?.expiry.contractText)
            json.member("id", user.memberID)
        }
        return issued == nil ? response : response.notStored()
    }
}
