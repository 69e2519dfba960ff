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
            answers: [.ok("The account.", .object(Member.user))],
            refuses: [.tooManyRequests]
        ),
        HandledEndpoint(
            "gallerySignIn",
            .gallery,
            .post,
            "/gallery/signin",
            .ownPage(handleSignIn),
            "Sign in",
            limitedBy: [.signInPerAccount, .signInPerAddress, .passwordTriesPerAccount],
            takes: [.accountEmail, .typedPassword, .device],
            answers: [.ok("The account.", .object(Member.user), headers: [.setCookie])],
            refuses: [AccountRequests.wrongCredentials, .accountDisabled, .tooManyRequests]
        ),
        HandledEndpoint(
            "galleryAccount",
            .gallery,
            .get,
            "/gallery/account",
            .cookie(handleAccount),
            "Read the account that is signed in",
            answers: [.ok("The account.", .object(Member.user))]
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
            answers: [.ok("The account.", .object(Member.user), headers: [.setCookie])],
            refuses: [.tokenExpired, AccountRequests.wrongPassword]
        ),
        HandledEndpoint(
            "galleryLeave",
            .gallery,
            .delete,
            "/gallery/account",
            .cookieAfterParameters(handleLeave),
            "Delete the account",
            limitedBy: [.signInPerAccount, .passwordTriesPerAccount],
            takes: [.typedPassword],
            answers: [.message(accountDeleted, headers: [.setCookie, .clearSiteData])],
            refuses: [.tokenExpired, AccountRequests.wrongPassword]
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

    private typealias Member = Endpoint.Answer.Member
    private static let signedOut = "Signed out"
    private static let accountDeleted = "Account deleted"

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasGallery }

    init(_ parts: WebParts) {
        self.parts = parts
        accounts = AccountRequests(parts, passwords: .plain, takesMore: false)
        photos = PhotoEndpoints(parts)
        changes = ChangeEndpoints(parts)
        sessions = SessionEndpoints(parts)
        exports = ExportEndpoints(parts)
    }

    @Sendable
    private func handleSignUp(request: Request, context: ServiceRequestContext) async throws -> Response {
        let user = try await accounts.signUp(request, context)
        return Self.response(of: user)
    }

    @Sendable
    private func handleSignIn(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await accounts.signIn(request, context)
        return Self.response(of: user).setting(cookie(of: request).setting(issued, at: parts.now()))
    }

    @Sendable
    private func handleAccount(request: Request, context: SessionRequestContext) async throws -> Response {
        guard let user = try await parts.useCases.accounts.users.find(id: context.session.userID) else {
            throw SessionError.ended
        }
        return Self.response(of: user)
    }

    @Sendable
    private func handleSignOut(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await accounts.signOut(request, context, token, expired: .tokenExpired)
        return .message(Self.signedOut).setting(cookie(of: request).removal).clearingSiteData()
    }

    @Sendable
    private func handlePassword(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        let (user, issued) = try await accounts.resetPassword(request, context, token, expired: .tokenExpired)
        return Self.response(of: user).setting(cookie(of: request).setting(issued, at: parts.now()))
    }

    @Sendable
    private func handleLeave(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        try await accounts.deleteAccount(request, context, token)
        return .message(Self.accountDeleted).setting(cookie(of: request).removal).clearingSiteData()
    }

    private func cookie(of request: Request) -> SessionCookie {
        SessionCookie(origin: parts.origin.origin(of: request.head), headers: request.headers)
    }

    private static func response(of user: User) -> Response {
        Response.json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.lastName)
            json.member("email", user.email)
        }.notStored()
    }
}

extension Response {
    /// The same answer, after which the browser keeps no photo.
    ///
    /// Source: W3C, Clear Site Data.
    fileprivate func clearingSiteData() -> Response {
        var response = self
        if let name = HTTPField.Name("Clear-Site-Data") { response.headers[name] = #""cache""# }
        return response
    }

    /// The same answer with a cookie.
    fileprivate func setting(_ cookie: String) -> Response {
        var response = notStored()
        response.headers[.setCookie] = cookie
        return response
    }
}
