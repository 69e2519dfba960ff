import SelfieClient

/// A call of the service: who may make it, and what it does.
struct Route: Sendable {
    enum Action: Sendable {
        /// Without a credential.
        case open(@Sendable (inout ServiceState, ServiceRequest) throws -> ServiceAnswer)
        /// With the app's credential.
        case app(@Sendable (inout ServiceState, ServiceRequest) throws -> ServiceAnswer)
        /// With a user's token.
        case user(@Sendable (inout ServiceState, ServiceRequest, Session) throws -> ServiceAnswer)
    }

    private let method: String
    /// The segments of the path; a star stands for any text.
    private let pattern: [String]
    private let action: Action

    /// - Parameters:
    ///   - method: Such as `GET`.
    ///   - path: Such as `api/records/*`.
    ///   - action: What the call does.
    init(_ method: String, _ path: String, _ action: Action) {
        (self.method, self.action) = (method, action)
        pattern = path.split(separator: "/").map(String.init)
    }

    static let all =
        AccountCalls.routes + CodeCalls.routes + SessionCalls.routes + MemberCalls.routes + RoleCalls.routes
        + PhotoCalls.routes + RecordCalls.routes + ChangeCalls.routes + NotificationCalls.routes + ExportCalls.routes

    func matches(_ request: ServiceRequest) -> Bool {
        method == request.method && pattern.count == request.path.count
            && zip(pattern, request.path).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// Makes the call: wholly, or not at all.
    ///
    /// - Throws: `ServiceRefusal`.
    func answer(_ request: ServiceRequest, _ state: inout ServiceState) throws -> ServiceAnswer {
        var next = state
        let answer: ServiceAnswer
        switch action {
        case .open(let action): answer = try action(&next, request)
        case .app(let action):
            guard request.headers["authorization"] == state.credential else { throw ServiceRefusal.appUnknown }
            answer = try action(&next, request)
        case .user(let action):
            let session = try next.sessions.use(request.headers["authorization"], at: state.now)
            answer = try action(&next, request, session)
        }
        state = next
        return answer
    }
}
