import Hummingbird
import Logging
import NIOCore
import SelfieCore

/// What goes along with a request from the socket to its handler.
struct ServiceRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Under which the request appears in answers, logs and the audit.
    var requestID = ""
    /// The session that the request's token names, once `TokenMiddleware` has found it.
    var session: Session?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// The context of handlers that need a user: it can't be made without a session.
struct SessionRequestContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let requestID: String
    let session: Session

    init(context: ServiceRequestContext) throws {
        guard let session = context.session else { throw SessionError.ended }
        coreContext = context.coreContext
        channel = context.channel
        requestID = context.requestID
        self.session = session
    }
}

/// A context that knows the connection which its request came over, and the request's id.
protocol ConnectionContext {
    var channel: any Channel { get }
    var requestID: String { get }
}

extension ServiceRequestContext: ConnectionContext {}
extension SessionRequestContext: ConnectionContext {}

/// Sees every request of the routes behind it before their handler does, and every answer after.
protocol ServiceMiddleware: RouterMiddleware where Context == ServiceRequestContext {}
