import Hummingbird
import Logging
import NIOCore
import SelfieAccounts

/// The data of a request on its way from the socket to its handler.
struct ServiceRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The request's id in answers, logs and the audit.
    var requestID = ""
    /// The parameters that the endpoint's description has.
    var parameterNames = ParameterNames()
    /// The session of the request's token, set by `TokenMiddleware`.
    var session: TokenSession?
    let notes = RequestNotes()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// The names of an endpoint's parameters.
struct ParameterNames {
    var all: [String] = []
    /// Those of the query or a body without which the call is refused.
    var required: [String] = []
}

/// The context of handlers that need a user.
///
/// It can't be made without a session that has not expired.
struct SessionRequestContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let requestID: String
    var parameterNames: ParameterNames
    let session: Session
    let notes: RequestNotes

    init(context: ServiceRequestContext) throws {
        guard let token = context.session else { throw SessionError.ended }
        guard let session = token.ifAlive else { throw SessionError.expired }
        coreContext = context.coreContext
        channel = context.channel
        requestID = context.requestID
        parameterNames = context.parameterNames
        notes = context.notes
        self.session = session
    }
}

/// A context that knows its request's connection, id and parameters.
protocol ConnectionContext {
    var channel: any Channel { get }
    var requestID: String { get }
    var parameterNames: ParameterNames { get set }
}

extension ServiceRequestContext: ConnectionContext {}
extension SessionRequestContext: ConnectionContext {}

/// Sees every request of the routes behind it before their handler does, and every answer after.
protocol ServiceMiddleware: RouterMiddleware where Context == ServiceRequestContext {}
