package import HTTPTypes
import SelfieAccounts

/// The description of one call of the API.
///
/// Router, checks, tests and the API's document all use this value.
package struct Endpoint: Sendable {
    /// Its name in the API's document, such as `signUp`.
    package internal(set) var name: String
    /// The one collection that it is about; nil for a call of the router's own.
    var collection: String?
    package internal(set) var topic: Topic
    package let method: HTTPRequest.Method
    /// Such as `/api/sessions/:id`, where `:id` stands for any one segment.
    package internal(set) var path: String
    package internal(set) var authentication: Authentication
    /// Whether it may change something.
    ///
    /// Then it is finished also for a client that has left. A GET should not, but railsauth has two that do.
    package let changesState: Bool
    /// Whether it may read from a standby.
    let readsFromStandby: Bool
    /// What it does, in a few words.
    var summary: String
    /// What a caller should know beside that, in Markdown.
    var details: String
    /// The rate limits that it counts for.
    let rateLimits: [RateLimitName]
    /// The headers of a request that change the answer.
    package let headers: [Header]
    package internal(set) var parameters: [Parameter]
    /// The JSON that is its body; nil when its body has parameters, or there is none.
    package internal(set) var body: JSONBodyDescription?
    package internal(set) var answers: [Answer]
    /// This call's own refusals.
    ///
    /// ``allRefusals`` adds those that calls share.
    let refusals: [ServiceError]

    /// The authentication.
    package enum Authentication: Sendable, CaseIterable {
        /// Anybody.
        case `public`
        /// Clients with the API's credential, by HTTP Basic.
        case basic
        /// Users with a token. The handler gets the user's session.
        case token
        /// Users with a token in DreamFactory's header. The handler gets the user's session.
        case dreamFactory
        /// The gallery's own pages.
        case ownPage
        /// The gallery's own pages, with a user's cookie. The handler gets the user's session.
        case cookie

        /// Whether only the gallery's own pages may call.
        var isForOwnPages: Bool {
            switch self {
            case .ownPage, .cookie: true
            case .public, .basic, .token, .dreamFactory: false
            }
        }

        /// Whether a token is needed, by header or cookie.
        ///
        /// Unknown ones are counted by address.
        var takesToken: Bool {
            switch self {
            case .token, .dreamFactory, .cookie: true
            case .public, .basic, .ownPage: false
            }
        }
    }

    /// What calls are about, in the order of the API's document.
    package enum Topic: String, Sendable, CaseIterable {
        case accounts = "Accounts"
        case photos = "Photos"
        case sessions = "Sessions"
        case records = "Records"
        case collections = "Collections"
        case changes = "Changes"
        case roles = "Roles"
        case members = "Members"
        case notifications = "Notifications"
        case dreamFactory = "DreamFactory"
        case gallery = "Gallery"
        case service = "Service"

        /// What calls of the topic do.
        var summary: String {
            switch self {
            case .accounts: "Create an account, sign in, change the password, delete the account."
            case .photos: "Upload, list, open and delete photos."
            case .sessions: "See where a user is signed in, and end sessions."
            case .notifications: "Tell a user of changes while the app is closed: devices, and subscriptions."
            case .dreamFactory:
                "Accounts and records for apps that were made for DreamFactory 1. Other clients use the calls above."
            case .members: "A user's profile, other members, and blocks."
            case .collections: "The calls of records, for each collection of this installation with its fields."
            case .changes: "Receive changes at once, without a gap."
            case .roles: "List, add and remove the members of roles."
            case .records: "Create, read, change and delete records in the operator's collections."
            case .gallery: "The calls of the gallery's own pages. Other clients use the calls above."
            case .service: "Health checks, and the description of the API."
            }
        }
    }

    /// A header of a request or of an answer.
    package struct Header: Sendable {
        package internal(set) var name: String
        let summary: String
        let example: String
        /// Whether each such answer has it.
        var isAlwaysThere = false
    }

    /// The end of a path that is ignored, as in Rails.
    static let format = ".json"

    /// The path as requests have it when ``format`` is dropped.
    package var pathWithoutFormat: String {
        path.hasSuffix(Self.format) ? String(path.dropLast(Self.format.count)) : path
    }

    /// How its refusals are written.
    var refusalForm: ServiceError.Form { topic == .dreamFactory ? .dreamFactory : .usual }

    /// All refusals that the call may answer with.
    package var allRefusals: [ServiceError] {
        let all = refusals + sharedRefusals
        return authentication.isForOwnPages ? all.map(\.withoutChallenge) : all
    }

    private var sharedRefusals: [ServiceError] {
        var shared: [ServiceError] = [.unavailable, .internalError] + ServiceError.ofConnection
        shared += parameters.flatMap(\.validationErrors)
        switch authentication {
        case .public: break
        case .basic: shared += [.basicAccessDenied, .tooManyAtOnce]
        case .token, .dreamFactory, .cookie: shared += [.tokenAccessDenied, .tooManyRequests, .tooManyAtOnce]
        case .ownPage: shared += [.tooManyAtOnce]
        }
        if authentication.isForOwnPages { shared.append(.crossSiteRequest) }
        // Such a segment may make another path of it.
        if parameters.contains(where: { $0.location == .path }) { shared.append(.wrongURL) }
        if parameters.contains(where: { $0.location != .path }) {
            shared += [.malformedParameters, .tooManyParameters, .unfitName]
        }
        if parameters.contains(where: { [.anywhere, .multipart].contains($0.location) }) {
            shared += [.malformedMultipart, .bodyTooLarge, .bodyIncomplete]
            if !parameters.contains(where: { $0.location == .multipart }) { shared.append(.malformedJSON) }
            if parameters.contains(where: \.isRequired) { shared.append(.parametersMissing) }
        }
        if let body {
            let ofJSON: [ServiceError] = [.jsonRequired, .malformedJSON, .unfitName, .bodyTooLarge, .bodyIncomplete]
            // A query has names, too.
            shared += ofJSON.filter { !shared.contains($0) } + body.validationErrors
        }
        return shared
    }
}
