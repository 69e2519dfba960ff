import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfieRecords

/// The calls of the gallery's pages.
///
/// They do what the API's calls do, with a cookie instead of a credential and a token.
struct GalleryEndpoints: EndpointGroup {
    private let parts: WebParts
    private let answers: GalleryAnswers
    private let accounts: AccountRequests
    private let photos: PhotoEndpoints
    private let changes: ChangeEndpoints
    private let sessions: SessionEndpoints
    private let exports: ExportEndpoints

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "gallerySignUp",
            .gallery,
            .post,
            "/gallery/signup",
            .ownPage(handleSignUp),
            "Create an account",
            limitedBy: [.signUpPerAddress],
            takes: [.fullName, .email, .typedNewPassword],
            answers: [.ok("The account.", .object(GalleryAnswers.account))],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "gallerySignIn",
            .gallery,
            .post,
            "/gallery/signin",
            .ownPage(handleSignIn),
            "Sign in",
            limitedBy: [.signInPerAccount, .signInPerAddress, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.accountEmail, .typedPasswordOrCode, .codeOrPassword, .device],
            answers: [.ok("The account.", .object(GalleryAnswers.account), headers: [.setCookie])],
            refuses: AccountRequests.signInRefusals
        ),
        HandledEndpoint(
            "galleryAccount",
            .gallery,
            .get,
            "/gallery/account",
            .cookie(handleAccount),
            "Read the account that is signed in",
            answers: [.ok("The account.", .object(GalleryAnswers.account))]
        ),
        HandledEndpoint(
            "gallerySignOut",
            .gallery,
            .post,
            "/gallery/signout",
            .cookieAfterParameters(handleSignOut),
            "Sign out",
            takes: [.all],
            answers: [.message(signedOut, headers: [.setCookie, .clearSiteData])],
            refuses: [.tokenExpired]
        ),
        HandledEndpoint(
            "galleryPassword",
            .gallery,
            .post,
            "/gallery/password",
            .cookieAfterParameters(handlePassword),
            "Change the password",
            details: "Ends all other sessions and all photo URLs.",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount],
            takes: [.typedOldPassword, .typedChangedPassword, .device],
            answers: [.ok("The account.", .object(GalleryAnswers.account), headers: [.setCookie])],
            refuses: [.tokenExpired, AccountRequests.wrongPassword]
        ),
        HandledEndpoint(
            "galleryLeave",
            .gallery,
            .delete,
            "/gallery/account",
            .cookieAfterParameters(handleLeave),
            "Delete the account",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.typedPasswordOrCode, .codeOrPassword],
            answers: [.message(accountDeleted, headers: [.setCookie, .clearSiteData])],
            refuses: [.tokenExpired, .parametersMissing, AccountRequests.wrongPassword, .codeInvalid]
        ),
        HandledEndpoint(
            "galleryPhotos",
            "/gallery/photos",
            .cookie { $0.photos.handleList },
            like: PhotoEndpoints.list
        ),
        HandledEndpoint(
            "galleryUpload",
            "/gallery/photos",
            .cookieAfterParameters { $0.photos.handleUpload },
            like: PhotoEndpoints.upload
        ),
        HandledEndpoint(
            "galleryDeletePhoto",
            "/gallery/photos",
            .cookieAfterParameters { $0.photos.handleDelete },
            like: PhotoEndpoints.deletion
        ),
        HandledEndpoint(
            "galleryChanges",
            "/gallery/changes",
            .cookie { $0.changes.handleChanges },
            like: ChangeEndpoints.list
        ),
        HandledEndpoint(
            "gallerySessions",
            "/gallery/sessions",
            .cookie { $0.sessions.handleList },
            like: SessionEndpoints.list
        ),
        HandledEndpoint(
            "galleryEndSession",
            "/gallery/sessions/:id",
            .cookie { $0.sessions.handleEnd },
            like: SessionEndpoints.end
        ),
        HandledEndpoint(
            "galleryExport",
            "/gallery/export",
            .cookie { $0.exports.handleExport },
            like: ExportEndpoints.export
        ),
    ]

    private static let signedOut = "Signed out"
    private static let accountDeleted = "Account deleted"

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasGallery }

    init(_ parts: WebParts) {
        self.parts = parts
        answers = GalleryAnswers(parts)
        accounts = AccountRequests(parts, passwords: .plain, takesMore: false)
        photos = PhotoEndpoints(parts)
        changes = ChangeEndpoints(parts)
        sessions = SessionEndpoints(parts)
        exports = ExportEndpoints(parts)
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        let user = try await accounts.signUp(request, context)
        return GalleryAnswers.account(user)
    }

    @Sendable
    private func handleSignIn(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await accounts.signIn(request, context)
        return answers.account(user, beginning: issued, for: request)
    }

    @Sendable
    private func handleAccount(request: Request, context: SessionRequestContext) async throws -> Response {
        guard let user = try await parts.useCases.accounts.users.find(id: context.session.userID) else {
            throw SessionError.ended
        }
        return GalleryAnswers.account(user)
    }

    @Sendable
    private func handleSignOut(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await accounts.signOut(request, context, token, expired: .tokenExpired)
        return answers.signedOut(Self.signedOut, for: request)
    }

    @Sendable
    private func handlePassword(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        let (user, issued) = try await accounts.resetPassword(request, context, token, expired: .tokenExpired)
        return answers.account(user, beginning: issued, for: request)
    }

    @Sendable
    private func handleLeave(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await accounts.deleteAccount(request, context, token)
        return answers.signedOut(Self.accountDeleted, for: request)
    }
}
