import Encodings

/// An action with a limit.
///
/// All actions that are counted are listed here.
struct LimitedAction: Sendable {
    /// How often it may be done.
    let limit: RateLimitName
    /// The event to note when refusals begin.
    let refusal: AuditEvent
    /// A text that differs for each action and each one who does it.
    let name: String

    private init(
        _ limit: RateLimitName,
        _ refusal: AuditEvent,
        by actor: String...
    ) {
        self.limit = limit
        self.refusal = refusal
        name = actor.joined(separator: "\0")
    }

    /// A password is tried for an account, or for an e-mail that has none.
    static func password(_ account: AccountName) -> LimitedAction {
        switch account {
        case .user(let id): LimitedAction(.signInPerAccount, .signInLimited, by: "user", "\(id)")
        case .unknown(let email):
            LimitedAction(.signInPerAccount, .signInLimited, by: "email", email.trimmingWhitespace().lowercased())
        }
    }

    /// The same from a network that the account's user has signed in from.
    static func passwordFromKnownNetwork(userID: Int, network: String) -> LimitedAction {
        LimitedAction(.signInPerAccount, .signInLimited, by: "known", "\(userID)", network)
    }

    /// A password is tried with a session's token.
    static func passwordOfSession(id: Int) -> LimitedAction {
        LimitedAction(.signInPerAccount, .passwordLimited, by: "session", "\(id)")
    }

    static func signIn(network: String) -> LimitedAction {
        LimitedAction(.signInPerAddress, .signInLimited, by: "signin", network)
    }

    static func signUp(network: String) -> LimitedAction {
        LimitedAction(.signUpPerAddress, .signUpLimited, by: "signup", network)
    }

    static func getToken(network: String) -> LimitedAction {
        LimitedAction(.getTokenPerAddress, .getTokenLimited, by: "get_token", network)
    }

    static func tokenGuess(network: String) -> LimitedAction {
        LimitedAction(.tokenGuessesPerAddress, .tokenGuessesLimited, by: "token", network)
    }

    static func upload(userID: Int) -> LimitedAction {
        LimitedAction(.uploadsPerUser, .uploadsLimited, by: "upload", "\(userID)")
    }
}

/// An account as a sign-in names it.
enum AccountName: Sendable {
    case user(id: Int)
    /// An e-mail without an account.
    case unknown(email: String)
}
