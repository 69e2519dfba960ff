import HTTPTypes
import Hummingbird
import SelfieAccounts
import SelfieConfiguration

/// What users do with codes that they get by mail.
///
/// Without a mail server, there are no such calls.
struct CodeEndpoints: EndpointGroup {
    private let requests: AccountRequests

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "requestCode",
            .accounts,
            .post,
            "/api/request_code",
            .basic(handleRequest),
            "Send a code",
            details: """
                Sends a code of \(CodeKeys.digitCount) digits to the e-mail address of an account. It works once, for \
                \(CodeStore.lifetimeSeconds / 60) minutes, and replaces the one before. The answer is the same for an address \
                without an account.

                Within a week after a change of the address, the old one gets a code for `reset`, too, if it was verified.
                """,
            limitedBy: [.codesPerAccount, .codesPerAddress],
            takes: [.accountEmail, .purpose],
            answers: [.message(codeSent)],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "recoverPassword",
            .accounts,
            .post,
            "/api/recover_password",
            .basic(handleRecover),
            "Choose a new password with a code",
            details: """
                Takes a code that was sent for `reset`. Ends all of the user's sessions and photo URLs, starts a session, and \
                verifies the e-mail address. If the code was sent to an old address, that becomes the account's address again.
                """,
            limitedBy: [.codeTriesPerAccount, .signInPerAddress],
            takes: [.accountEmail, .code, .newPassword, .device],
            answers: [.ok("The account, with a new token.", .object(Member.user + Member.token + [Member.id]))],
            refuses: [.codeInvalid, .accountDisabled, emailTaken, .tooManyRequests]
        ),
        HandledEndpoint(
            "changeEmail",
            .accounts,
            .post,
            "/api/change_email",
            .tokenAfterParameters(handleChange),
            "Change the e-mail address",
            details: """
                Sends a code to the new address, and a notice to the old one. The old address holds until `confirmEmail`. With \
                the present address, the code verifies it.
                """,
            limitedBy: [.codesPerAccount, .signInPerAccount, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.newEmail, .passwordOrCode, .codeOrPassword],
            answers: [.message(codeSentToNewAddress)],
            refuses: [.tokenExpired, AccountRequests.wrongPassword, .codeInvalid]
        ),
        HandledEndpoint(
            "confirmEmail",
            .accounts,
            .post,
            "/api/confirm_email",
            .tokenAfterParameters(handleConfirm),
            "Confirm the e-mail address",
            details: """
                Takes the code from the mail to the new address. Sessions stay valid. An account that had the address without \
                having verified it loses it.
                """,
            limitedBy: [.codeTriesPerAccount],
            takes: [.code],
            answers: [.ok("The account.", .object(Member.user + Member.noToken + [Member.id]))],
            refuses: [.tokenExpired, .codeInvalid, emailTaken]
        ),
        HandledEndpoint(
            "setPassword",
            .accounts,
            .post,
            "/api/set_password",
            .tokenAfterParameters(handleSetPassword),
            "Choose a first password",
            details: "For an account without a password. Takes a code that was sent for `reset`. Sessions stay valid.",
            limitedBy: [.codeTriesPerAccount],
            takes: [.newPassword, .code],
            answers: [.ok("The account.", .object(Member.user + Member.noToken + [Member.id]))],
            refuses: [.tokenExpired, .codeInvalid, .passwordExists]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member

    static let codeSent = "Code sent, if there is such an account"
    static let codeSentToNewAddress = "Code sent"
    static let emailTaken = ServiceError(.taken, of: "email")

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.mail != nil }

    init(_ parts: WebParts) {
        requests = AccountRequests(parts, passwords: .encrypted(parts.cipher), takesMore: true)
    }

    @Sendable
    private func handleRequest(request: Request, context: ServiceRequestContext) async throws -> Response {
        try await requests.requestCode(request, context)
        return .message(Self.codeSent)
    }

    @Sendable
    private func handleRecover(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await requests.recoverPassword(request, context)
        return .json(of: user, token: issued)
    }

    @Sendable
    private func handleChange(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await requests.changeEmail(request, context, token)
        return .message(Self.codeSentToNewAddress)
    }

    @Sendable
    private func handleConfirm(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        .json(of: try await requests.confirmEmail(request, context, token), token: nil)
    }

    @Sendable
    private func handleSetPassword(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        .json(of: try await requests.setPassword(request, context, token), token: nil)
    }
}
