import HTTPTypes
import Hummingbird

/// The endpoints of one feature, with their handlers.
protocol EndpointGroup: Sendable {
    /// The group's endpoints. The router and ``Routes/endpoints`` take them from this list.
    static var endpoints: [HandledEndpoint<Self>] { get }

    init(_ parts: WebParts)
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

        fileprivate var authentication: Endpoint.Authentication {
            switch self {
            case .public: .public
            case .basic: .basic
            case .token: .token
            case .checksItsOwnToken: .checksItsOwnToken
            }
        }
    }

    let access: Access
    let description: Endpoint

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        changesState: Bool? = nil,
        takes parameters: [Endpoint.Parameter] = [],
        answers: [Endpoint.Answer],
        refuses refusals: [ServiceError] = []
    ) {
        self.access = access
        description = Endpoint(
            method: method,
            path: path,
            authentication: access.authentication,
            changesState: changesState ?? (method != .get),
            parameters: parameters,
            answers: answers,
            refusals: refusals
        )
    }
}

extension EndpointGroup {
    /// Adds the group's endpoints to a router, each behind its authentication.
    func add(to router: Router<ServiceRequestContext>, basic: BasicMiddleware, token: TokenMiddleware) {
        let basicGroup = router.group().add(middleware: basic)
        let tokenGroup = router.group().add(middleware: token).group(context: SessionRequestContext.self)
        for endpoint in Self.endpoints {
            let (path, method) = (RouterPath(endpoint.description.path), endpoint.description.method)
            switch endpoint.access {
            case .public(let handler), .checksItsOwnToken(let handler):
                router.on(path, method: method, use: handler(self))
            case .basic(let handler): basicGroup.on(path, method: method, use: handler(self))
            case .token(let handler): tokenGroup.on(path, method: method, use: handler(self))
            }
        }
    }
}
