import HTTPConnection
import HTTPTypes
import Hummingbird
import SelfieAccounts
import SelfieConfiguration

/// The endpoints of one feature, with their handlers.
protocol EndpointGroup: Sendable {
    /// The group's endpoints. The router and ``Routes/endpoints`` take them from this list.
    static var endpoints: [HandledEndpoint<Self>] { get }

    /// Whether the settings open the group.
    ///
    /// A closed one does not exist for clients.
    static func isOpen(_ settings: ServiceConfiguration) -> Bool

    init(_ parts: WebParts)
}

extension EndpointGroup {
    static func isOpen(_ settings: ServiceConfiguration) -> Bool { true }
}

/// An endpoint and its handler.
///
/// The authentication decides which context the handler gets.
struct HandledEndpoint<Group: EndpointGroup>: Sendable {
    typealias Handler = @Sendable (Group) -> @Sendable (Request, ServiceRequestContext) async throws -> Response
    typealias SessionHandler = @Sendable (Group) -> @Sendable (Request, SessionRequestContext) async throws -> Response
    typealias TokenHandler =
        @Sendable (Group) -> @Sendable (Request, ServiceRequestContext, TokenSession) async throws -> Response

    /// The authentication, and the handler.
    enum Access: Sendable {
        case `public`(Handler)
        case basic(Handler)
        case token(SessionHandler)
        /// The handler refuses an expired token, after invalid parameters and with its own text.
        case tokenAfterParameters(TokenHandler)
        case dreamFactory(SessionHandler)
        case ownPage(Handler)
        case cookie(SessionHandler)
        /// The same as `tokenAfterParameters` with the gallery's cookie.
        case cookieAfterParameters(TokenHandler)

        fileprivate var authentication: Endpoint.Authentication {
            switch self {
            case .public: .public
            case .basic: .basic
            case .token, .tokenAfterParameters: .token
            case .dreamFactory: .dreamFactory
            case .ownPage: .ownPage
            case .cookie, .cookieAfterParameters: .cookie
            }
        }

        /// The refusals of the access itself, beside those that all calls with this authentication share.
        fileprivate var refusals: [ServiceError] {
            switch self {
            case .token, .dreamFactory, .cookie: [.tokenExpired]
            case .public, .basic, .tokenAfterParameters, .ownPage, .cookieAfterParameters: []
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
        readsFromStandby: Bool = false,
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
            readsFromStandby: readsFromStandby,
            summary: summary,
            details: details,
            rateLimits: rateLimits,
            headers: headers,
            parameters: parameters,
            body: body,
            answers: answers,
            refusals: access.refusals + refusals
        )
    }

    /// A call of the gallery's own pages that takes and answers what another call does.
    init<Other>(_ name: String, _ path: String, _ access: Access, like other: HandledEndpoint<Other>) {
        self.access = access
        var description = other.description
        description.name = name
        description.topic = .gallery
        description.path = path
        description.authentication = access.authentication
        description.details = ""
        self.description = description
    }
}

/// The middlewares of endpoints, by their authentication.
struct EndpointGuards {
    let basic: BasicMiddleware
    let token: TokenMiddleware
    let dreamFactory = DreamFactoryMiddleware()
    let ownPage: GalleryMiddleware
    /// The session's writes are noted by this; nil where no standby is read.
    let standbyWrites: StandbyWriteMiddleware?
}

extension EndpointGroup {
    /// Adds the group's endpoints to a router, each behind its authentication.
    func add(to router: Router<ServiceRequestContext>, guards: EndpointGuards) {
        for endpoint in Self.endpoints {
            let (path, method) = (RouterPath(endpoint.description.pathWithoutFormat), endpoint.description.method)
            let routes = router.group()
            if endpoint.description.changesState, method == .get { routes.add(middleware: UnsafeMethodMiddleware()) }
            switch endpoint.access {
            case .public: break
            case .basic: routes.add(middleware: guards.basic)
            case .token, .tokenAfterParameters: routes.add(middleware: guards.token)
            case .dreamFactory: routes.add(middleware: guards.dreamFactory).add(middleware: guards.token)
            case .ownPage: routes.add(middleware: guards.ownPage)
            case .cookie, .cookieAfterParameters: routes.add(middleware: guards.ownPage).add(middleware: guards.token)
            }
            if let standbyWrites = guards.standbyWrites, endpoint.description.authentication.takesToken {
                if endpoint.description.changesState { routes.add(middleware: standbyWrites) }
                if endpoint.description.readsFromStandby { routes.add(middleware: StandbyReadMiddleware()) }
            }
            switch endpoint.access {
            case .public(let handler), .basic(let handler), .ownPage(let handler):
                routes.on(path, method: method, use: endpoint.described(handler(self)))
            case .token(let handler), .dreamFactory(let handler), .cookie(let handler):
                routes.group(context: SessionRequestContext.self)
                    .on(path, method: method, use: endpoint.described(handler(self)))
            case .tokenAfterParameters(let handler), .cookieAfterParameters(let handler):
                let handle = handler(self)
                let use = endpoint.described { (request, context: ServiceRequestContext) in
                    guard let session = context.session else { throw SessionError.ended }
                    return try await handle(request, context, session)
                }
                routes.on(path, method: method, use: use)
            }
        }
    }
}

/// Has a GET that changes something finished, also when its client leaves.
private struct UnsafeMethodMiddleware: ServiceMiddleware {
    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        context.channel.markRequestUnsafe()
        return try await next(request, context)
    }
}

extension HandledEndpoint {
    /// The handler, with a context that knows the parameters of the description.
    fileprivate func described<Context: ConnectionContext & SendableMetatype>(
        _ handler: @escaping @Sendable (Request, Context) async throws -> Response
    ) -> @concurrent @Sendable (Request, Context) async throws -> Response {
        let required = description.parameters.filter { $0.isRequired && [.anywhere, .query].contains($0.location) }
        let names = ParameterNames(all: description.parameters.map(\.name), required: required.map(\.name))
        return { request, context in
            var context = context
            context.parameterNames = names
            return try await handler(request, context)
        }
    }
}
