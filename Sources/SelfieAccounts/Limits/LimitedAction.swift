import Encodings
import Mail

/// An action with a limit.
///
/// All actions that are counted are listed here.
package struct LimitedAction: Sendable {
    /// How often it may be done.
    let limit: RateLimitName
    /// The event to note when refusals begin.
    let refusal: AuditEvent
    /// A text that differs for each action and each client or user.
    let name: String
    /// How many times the limit holds.
    let factor: Int
    /// Whether the count is undone if the password turns out to be correct.
    let isForgiven: Bool
    /// For how many it counts.
    let amount: Int

    private init(
        _ limit: RateLimitName,
        _ refusal: AuditEvent,
        factor: Int = 1,
        isForgiven: Bool = true,
        amount: Int = 1,
        by actor: String...
    ) {
        self.limit = limit
        self.refusal = refusal
        self.factor = factor
        self.isForgiven = isForgiven
        self.amount = amount
        name = actor.joined(separator: "\0")
    }

    /// How many times the limit of a network holds for its site.
    static let siteFactor = 8

    /// An action of an address, and where the address is of a site with many networks, the same of the site.
    private static func each(
        of address: ClientAddress,
        _ limit: RateLimitName,
        _ refusal: AuditEvent,
        _ action: String
    ) -> [LimitedAction] {
        let own = LimitedAction(limit, refusal, by: action, address.network)
        guard address.site != address.network else { return [own] }
        return [own, LimitedAction(limit, refusal, factor: siteFactor, by: action, address.site)]
    }

    /// A password is tried for an account, or for an e-mail that has none.
    static func password(_ account: AccountName) -> LimitedAction {
        LimitedAction(.signInPerAccount, .signInLimited, by: account.kind, account.name)
    }

    /// The same from a network that the account's user has signed in from.
    static func passwordFromKnownNetwork(userID: Int, network: String) -> LimitedAction {
        LimitedAction(.signInPerAccount, .signInLimited, by: "known", "\(userID)", network)
    }

    /// A password is tried with a session's token.
    package static func passwordOfSession(id: Int) -> LimitedAction {
        LimitedAction(.signInPerAccount, .passwordLimited, by: "session", "\(id)")
    }

    /// A password is tried for an account, right or wrong.
    static func passwordTry(_ account: AccountName) -> LimitedAction {
        LimitedAction(.passwordTriesPerAccount, .signInLimited, isForgiven: false, by: "tries", account.text)
    }

    /// Codes are asked for from an address.
    static func code(from address: ClientAddress) -> [LimitedAction] {
        each(of: address, .codesPerAddress, .codesLimited, "code")
    }

    /// A code is sent to an address.
    static func code(to email: String) -> LimitedAction {
        LimitedAction(.codesPerAccount, .codesLimited, by: "code", mailbox(email))
    }

    /// The same for networks that its account's user has signed in from, all together: a user may have many.
    static func codeFromKnownNetwork(to email: String) -> LimitedAction {
        LimitedAction(.codesPerAccount, .codesLimited, by: "code known", mailbox(email))
    }

    /// A sign-up without a password sends a code.
    static func codeOfSignUp(to email: String) -> LimitedAction {
        LimitedAction(.codesPerAccount, .codesLimited, by: "code sign-up", mailbox(email))
    }

    /// A user asks for a code to a new address.
    static func codeToNewAddress(userID: Int) -> LimitedAction {
        LimitedAction(.codesPerAccount, .codesLimited, by: "code new", "\(userID)")
    }

    /// A notice is sent to an address; nil for any kind.
    static func notice(_ kind: MailKind?, to email: String) -> LimitedAction {
        LimitedAction(.noticesPerAddress, .noticesLimited, by: "notice", kind?.rawValue ?? "", mailbox(email))
    }

    /// A mail of a user's subscriptions is sent.
    static func changeMail(userID: Int) -> LimitedAction {
        LimitedAction(.changeMailsPerUser, .noticesLimited, by: "change mail", "\(userID)")
    }

    /// A code is tried for an account, or for an address that has none.
    static func codeTry(_ account: AccountName) -> LimitedAction {
        LimitedAction(.codeTriesPerAccount, .codesLimited, by: "code try", account.text)
    }

    /// The same from a network that the account's user has signed in from.
    static func codeTryFromKnownNetwork(userID: Int, network: String) -> LimitedAction {
        LimitedAction(.codeTriesPerAccount, .codesLimited, by: "code try known", "\(userID)", network)
    }

    /// A code is tried with a token of the account's user.
    static func codeTryBySession(userID: Int) -> LimitedAction {
        LimitedAction(.codeTriesPerAccount, .codesLimited, by: "code try session", "\(userID)")
    }

    static func signIn(from address: ClientAddress) -> [LimitedAction] {
        each(of: address, .signInPerAddress, .signInLimited, "signin")
    }

    static func signUp(from address: ClientAddress) -> [LimitedAction] {
        each(of: address, .signUpPerAddress, .signUpLimited, "signup")
    }

    /// A sign-up with an e-mail that may have an account.
    static func signUp(of email: String) -> LimitedAction {
        LimitedAction(.signInPerAccount, .signUpLimited, by: "signup of", normalized(email))
    }

    static func getToken(from address: ClientAddress) -> [LimitedAction] {
        each(of: address, .getTokenPerAddress, .getTokenLimited, "get_token")
    }

    static func tokenGuess(from address: ClientAddress) -> [LimitedAction] {
        each(of: address, .tokenGuessesPerAddress, .tokenGuessesLimited, "token")
    }

    package static func upload(userID: Int) -> LimitedAction {
        LimitedAction(.uploadsPerUser, .uploadsLimited, by: "upload", "\(userID)")
    }

    /// A user asks for all data.
    static func export(userID: Int) -> LimitedAction {
        LimitedAction(.exportsPerUser, .exportsLimited, by: "export", "\(userID)")
    }

    /// Records are created, changed or deleted.
    package static func recordWrites(_ count: Int, userID: Int) -> LimitedAction {
        LimitedAction(.recordWritesPerUser, .recordWritesLimited, amount: count, by: "record", "\(userID)")
    }

    /// A call deletes records from an inbox, however many.
    ///
    /// The count of deletions by the recipient is undone.
    package static func inboxDeletion(userID: Int) -> LimitedAction {
        LimitedAction(.recordWritesPerUser, .recordWritesLimited, by: "inbox deletion", "\(userID)")
    }

    /// Records are sent to inboxes, or members are named as readers.
    package static func inboxSends(_ count: Int, userID: Int) -> LimitedAction {
        LimitedAction(.inboxSendsPerUser, .inboxSendsLimited, amount: count, by: "inbox", "\(userID)")
    }
}

/// An e-mail as accounts are compared by it.
func normalized(_ email: String) -> String {
    email.trimmingWhitespace().lowercased()
}

/// An address as mail servers see it, so that no spelling has a count of its own.
private func mailbox(_ email: String) -> String {
    (try? MailAddress(email.trimmingWhitespace()))?.text.lowercased() ?? normalized(email)
}

/// An account as a sign-in names it.
package enum AccountName: Sendable {
    case user(id: Int)
    /// An e-mail without an account, as accounts are compared by it.
    case normalized(email: String)
    /// An account, by an address that it had a short time ago.
    ///
    /// Whoever has its present address must not use up the codes and tries of the one who lost it.
    case former(userID: Int, email: String)

    /// An e-mail without an account, as a client sent it.
    static func unknown(email: String) -> AccountName { .normalized(email: SelfieAccounts.normalized(email)) }

    fileprivate var kind: String {
        switch self {
        case .user: "user"
        case .normalized: "email"
        case .former: "former"
        }
    }

    fileprivate var name: String {
        switch self {
        case .user(let id): "\(id)"
        case .normalized(let email): email
        case .former(let id, let email): "\(id) \(email)"
        }
    }

    /// A text that differs for each.
    var text: String { "\(kind) \(name)" }
}
