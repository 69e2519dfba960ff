import HTTPTypes
import Hummingbird
import SelfieCore

/// The endpoints of one feature, with their handlers.
protocol EndpointGroup: Sendable {
    /// The group's endpoints. The router and ``Routes/endpoints`` take them from this list.
    static var endpoints: [HandledEndpoint<Self>] { get }

    /// Whether the settings open the group.
    ///
    /// A closed one does not exist for clients.
    static func isOpen(_ settings: WebParts.Settings) -> Bool

    init(_ parts: WebParts)
}

extension EndpointGroup {
    static func isOpen(_ settings: WebParts.Settings) -> Bool { true }
}

/// An endpoint and its handler.
///
/// The authentication decides which context the handler gets.
struct HandledEndpoint<Group: EndpointGroup>: Sendable {
    typealias Handler = @Sendable (Group) -> @Sendable (Request, ServiceRequestContext) async throws -> Response
    typealias SessionHandler = @Sendable (Group) -> @Sendable (Request, SessionRequestContext) async throws -> Response

    /// Who may call, and the handler.
    enum Access: Sendable {
        case `public`(Handler)
        case basic(Handler)
        case token(SessionHandler)
        case checksItsOwnToken(Handler)
        case ownPage(Handler)
        case cookie(SessionHandler)
        case checksItsOwnCookie(Handler)

        fileprivate var authentication: Endpoint.Authentication {
            switch self {
            case .public: .public
            case .basic: .basic
            case .token: .token
            case .checksItsOwnToken: .checksItsOwnToken
            case .ownPage: .ownPage
            case .cookie: .cookie
            case .checksItsOwnCookie: .checksItsOwnCookie
            }
        }
    }

    let access: Access
    let description: Endpoint

    init(
        _ name: String,
        _ topic: Endpoint.Topic,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        _ summary: String,
        details: String = "",
        changesState: Bool? = nil,
        limitedBy rateLimits: [RateLimitName] = [],
        dependsOn headers: [Endpoint.Header] = [],
        takes parameters: [Endpoint.Parameter] = [],
        sends body: Endpoint.JSONBodyDescription? = nil,
        answers: [Endpoint.Answer],
        refuses refusals: [ServiceError] = []
    ) {
        self.access = access
        description = Endpoint(
            name: name,
            topic: topic,
            method: method,
            path: path,
            authentication: access.authentication,
            changesState: changesState ?? (method != .get),
            summary: summary,
            details: details,
            rateLimits: rateLimits,
            headers: headers,
            parameters: parameters,
            body: body,
            answers: answers,
            refusals: refusals
        )
    }
}

/// What stands before the handlers of endpoints, by their authentication.
struct EndpointGuards {
    let basic: BasicMiddleware
    let token: TokenMiddleware
    let ownPage: GalleryMiddleware
}

extension EndpointGroup {
    /// Adds the group's endpoints to a router, each behind its authentication.
    func add(to router: Router<ServiceRequestContext>, guards: EndpointGuards) {
        let basicGroup = router.group().add(middleware: guards.basic)
        let tokenGroup = router.group().add(middleware: guards.token).group(context: SessionRequestContext.self)
        let pageGroup = router.group().add(middleware: guards.ownPage)
        let cookieGroup = router.group().add(middleware: guards.ownPage).add(middleware: guards.token)
            .group(context: SessionRequestContext.self)
        for endpoint in Self.endpoints {
            let (path, method) = (RouterPath(endpoint.description.pathWithoutFormat), endpoint.description.method)
            switch endpoint.access {
            case .public(let handler), .checksItsOwnToken(let handler):
                router.on(path, method: method, use: endpoint.described(handler(self)))
            case .basic(let handler): basicGroup.on(path, method: method, use: endpoint.described(handler(self)))
            case .token(let handler): tokenGroup.on(path, method: method, use: endpoint.described(handler(self)))
            case .ownPage(let handler), .checksItsOwnCookie(let handler):
                pageGroup.on(path, method: method, use: endpoint.described(handler(self)))
            case .cookie(let handler): cookieGroup.on(path, method: method, use: endpoint.described(handler(self)))
            }
        }
    }
}

extension HandledEndpoint {
    /// The handler, with a context that knows the parameters of the description.
    fileprivate func described<Context: ConnectionContext & SendableMetatype>(
        _ handler: @escaping @Sendable (Request, Context) async throws -> Response
    ) -> @concurrent @Sendable (Request, Context) async throws -> Response {
        let required = description.parameters.filter { $0.isRequired && [.anywhere, .query].contains($0.place) }
        let names = ParameterNames(all: description.parameters.map(\.name), required: required.map(\.name))
        return { request, context in
            var context = context
            context.parameterNames = names
            return try await handler(request, context)
        }
    }
}
