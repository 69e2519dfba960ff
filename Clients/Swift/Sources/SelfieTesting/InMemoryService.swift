public import Foundation
public import SelfieClient

/// A service in memory, for an app's own tests.
///
/// It answers the client as the real service does, without a network, and keeps accounts, photos and records until it goes.
/// It sends no mails and no pushes, makes no small pictures, and limits rates only when a test says so.
///
///     let service = InMemoryService(schema: RecordSchema(collections: ["notes": .init(access: .private)]))
///     let selfie = try await service.makeClient(signedInAs: "ada@example.com")
///     service.isOffline = true
public final class InMemoryService: Transport, Sendable {
    /// What the service's operator has set.
    public struct Settings: Sendable {
        /// Whether accounts need no password.
        public var signsUpWithoutPassword = false
        /// Whether members see all other members.
        public var hasDirectory = true
        /// Whether there are codes.
        ///
        /// Read them with ``InMemoryService/code(sentTo:)``.
        public var sendsMail = true
        /// Whether there are devices.
        public var sendsPushes = true

        public init() {}
    }

    /// The URL for `Selfie`.
    public let url: URL
    /// The app's credential for `Selfie`.
    public let apiCredential: APICredential

    private let state: Locked<ServiceState>
    let disturbances = Locked(Disturbances())
    let calls = Locked<[ServiceCall]>([])
    let bell = Bell()
    let folder = TemporaryFolder()
    private static let host = "https://selfie.example"

    /// - Parameters:
    ///   - schema: The collections and roles.
    ///   - settings: What the operator has set.
    public init(schema: RecordSchema = RecordSchema(), settings: Settings = Settings()) {
        let (name, password) = ("app", UUID().uuidString)
        // A name of RFC 2606, which nobody has.
        url = URL(string: Self.host) ?? URL(fileURLWithPath: "/")
        apiCredential = APICredential(name: name, password: password)
        state = Locked(
            ServiceState(
                settings: settings,
                schema: schema,
                origin: Self.host,
                credential: "Basic " + Data("\(name):\(password)".utf8).base64EncodedString(),
                cipher: PasswordCipher(passphrase: password)
            )
        )
    }

    public func send(_ request: TransportRequest, progress: (@Sendable (Int64) -> Void)?) async throws
        -> TransportResponse
    {
        try Task.checkCancellation()
        let received = try ServiceRequest(request)
        let disturbance = try disturbances.withLock { try $0.next(for: received) }
        var isLost = false
        if !received.body.isEmpty { progress?(Int64(received.body.count)) }
        let response: TransportResponse
        switch disturbance {
        case .refusal(let refusal)?: response = refusal
        case .loss?: (response, isLost) = (try await answer(received), true)
        case nil: response = try await answer(received)
        }
        if isOffline { isLost = true }
        calls.withLock { $0.append(ServiceCall(received, status: isLost ? nil : response.status)) }
        if isLost { throw TransportError.interrupted }
        return try Self.deliver(response, request)
    }

    /// Answers a request; one that waits for a change, when there is one.
    private func answer(_ request: ServiceRequest) async throws -> TransportResponse {
        var firstEnd: ContinuousClock.Instant?
        while true {
            let rings = bell.count
            let answer = answerNow(request)
            if request.method != "GET" { bell.ring() }
            guard let nextEnd = answer.waitsUntil else { return answer.response }
            let end = firstEnd ?? nextEnd
            firstEnd = end
            guard end > .now, !isOffline else { return answer.response }
            try await bell.wait(after: rings, until: end)
        }
    }

    private func answerNow(_ request: ServiceRequest) -> ServiceAnswer {
        change { state in
            do {
                guard let route = Route.all.first(where: { $0.matches(request) }) else {
                    throw ServiceRefusal.wrongURL
                }
                return try route.answer(request, &state)
            } catch let refusal as ServiceRefusal {
                return .refusal(refusal)
            } catch {
                return .refusal(
                    ServiceRefusal(status: 500, code: "internal_error", message: "Something went wrong.")
                )
            }
        }
    }

    /// Looks at what the service has, or changes it.
    func change<Result>(_ body: (inout ServiceState) throws -> Result) rethrows -> Result {
        try state.withLock { state in
            state.tick()
            state.removeExpired()
            return try body(&state)
        }
    }

    /// Puts an answer where the request wants it.
    private static func deliver(_ response: TransportResponse, _ request: TransportRequest) throws -> TransportResponse
    {
        guard response.body.count <= request.maxAnswerBytes else { throw TransportError.tooLarge }
        guard let file = request.answerFile, response.status == 200 else { return response }
        do {
            try response.body.write(to: file, options: .withoutOverwriting)
        } catch {
            throw TransportError.unwritableAnswer
        }
        return TransportResponse(status: response.status, headers: response.headers)
    }
}
