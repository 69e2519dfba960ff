import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts

/// The answers of the gallery's calls, with its cookie.
struct GalleryAnswers: Sendable {
    private let parts: WebParts

    /// The members of an account.
    static let account =
        Endpoint.Answer.Member.user + [
            Endpoint.Answer.Member.emailState,
            .init("has_password", .flag, "Whether the account has a password.", example: true),
        ]

    init(_ parts: WebParts) { self.parts = parts }

    /// An account.
    static func account(_ user: User) -> Response {
        Response.json { json in
            json.member("first_name", user.firstName)
            json.member("last_name", user.lastName)
            json.member("email", user.email)
            json.member("email_state", user.emailState.rawValue)
            json.member("has_password", user.hasPassword)
        }.notStored()
    }

    /// An account that is signed in from then on.
    func account(_ user: User, beginning issued: IssuedToken, for request: Request) -> Response {
        Self.account(user).setting(cookie(of: request).setting(issued, at: parts.now()))
    }

    /// A message, after which nobody is signed in, and the browser keeps no photo.
    ///
    /// Source: W3C, Clear Site Data.
    func signedOut(_ message: String, for request: Request) -> Response {
        var response = Response.message(message).setting(cookie(of: request).removal)
        if let name = HTTPField.Name("Clear-Site-Data") { response.headers[name] = #""cache""# }
        return response
    }

    private func cookie(of request: Request) -> SessionCookie {
        SessionCookie(origin: parts.origin.origin(of: request.head), headers: request.headers)
    }
}

extension Response {
    /// The same answer with a cookie.
    fileprivate func setting(_ cookie: String) -> Response {
        var response = notStored()
        response.headers[.setCookie] = cookie
        return response
    }
}
