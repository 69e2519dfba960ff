import Hummingbird
import SelfieAccounts
import SelfieConfiguration

/// The calls of the gallery's pages about codes.
///
/// Without a mail server, there are none, and the pages show nothing of them.
struct GalleryCodeEndpoints: EndpointGroup {
    private let answers: GalleryAnswers
    private let accounts: AccountRequests

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "galleryCode",
            .gallery,
            .post,
            "/gallery/code",
            .ownPage(handleRequest),
            "Send a code",
            limitedBy: [.codesPerAccount, .codesPerAddress],
            takes: [.accountEmail, .purpose],
            answers: [.message(CodeEndpoints.codeSent)],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "galleryRecover",
            .gallery,
            .post,
            "/gallery/recover",
            .ownPage(handleRecover),
            "Choose a new password with a code",
            limitedBy: [.codeTriesPerAccount, .signInPerAddress],
            takes: [.accountEmail, .code, .typedChangedPassword, .device],
            answers: [.ok("The account.", .object(GalleryAnswers.account), headers: [.setCookie])],
            refuses: [.codeInvalid, .accountDisabled, CodeEndpoints.emailTaken, .tooManyRequests]
        ),
        HandledEndpoint(
            "galleryEmail",
            .gallery,
            .post,
            "/gallery/email",
            .cookieAfterParameters(handleChange),
            "Change the e-mail address",
            limitedBy: [.codesPerAccount, .signInPerAccount, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.newEmail, .typedPasswordOrCode, .codeOrPassword],
            answers: [.message(CodeEndpoints.codeSentToNewAddress)],
            refuses: [.tokenExpired, AccountRequests.wrongPassword, .codeInvalid]
        ),
        HandledEndpoint(
            "galleryConfirmEmail",
            .gallery,
            .post,
            "/gallery/email/confirm",
            .cookieAfterParameters(handleConfirm),
            "Confirm the e-mail address",
            limitedBy: [.codeTriesPerAccount],
            takes: [.code],
            answers: [.ok("The account.", .object(GalleryAnswers.account))],
            refuses: [.tokenExpired, .codeInvalid, CodeEndpoints.emailTaken]
        ),
        HandledEndpoint(
            "galleryFirstPassword",
            .gallery,
            .post,
            "/gallery/password/first",
            .cookieAfterParameters(handleFirstPassword),
            "Choose a first password",
            limitedBy: [.codeTriesPerAccount],
            takes: [.typedChangedPassword, .code],
            answers: [.ok("The account.", .object(GalleryAnswers.account))],
            refuses: [.tokenExpired, .codeInvalid, .passwordExists]
        ),
    ]

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasGallery && settings.mail != nil }

    init(_ parts: WebParts) {
        answers = GalleryAnswers(parts)
        accounts = AccountRequests(parts, passwords: .plain, takesMore: false)
    }

    @Sendable
    private func handleRequest(request: Request, context: ServiceRequestContext) async throws -> Response {
        try await accounts.requestCode(request, context)
        return .message(CodeEndpoints.codeSent)
    }

    @Sendable
    private func handleRecover(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await accounts.recoverPassword(request, context)
        return answers.account(user, beginning: issued, for: request)
    }

    @Sendable
    private func handleChange(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await accounts.changeEmail(request, context, token)
        return .message(CodeEndpoints.codeSentToNewAddress)
    }

    @Sendable
    private func handleConfirm(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        GalleryAnswers.account(try await accounts.confirmEmail(request, context, token))
    }

    @Sendable
    private func handleFirstPassword(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        GalleryAnswers.account(try await accounts.setPassword(request, context, token))
    }
}
