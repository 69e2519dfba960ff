import Curl
package import Deliveries
import FoundationEssentials
package import Push

/// Sends pushes to Apple.
package struct APNsChannel: DeliveryChannel {
    /// Apple's servers, and who sends.
    package struct Apple: Sendable {
        let key: APNsKey
        let topic: String
        let production: APNsClient
        let sandbox: APNsClient

        /// - Parameters:
        ///   - key: Makes provider tokens.
        ///   - topic: The bundle id of devices that name none.
        ///   - production: The server for apps of the App Store and TestFlight.
        ///   - sandbox: The server for apps that Xcode has installed.
        package init(key: APNsKey, topic: String, production: APNsClient, sandbox: APNsClient) {
            (self.key, self.topic, self.production, self.sandbox) = (key, topic, production, sandbox)
        }
    }

    private let composer: PushComposer
    private let devices: DeviceStore
    private let tokens: ProviderTokens
    private let apple: Apple
    private let production = PushServer("production")
    private let sandbox = PushServer("sandbox")
    private let metrics: PushMetrics

    init(composer: PushComposer, devices: DeviceStore, tokens: ProviderTokens, apple: Apple, metrics: PushMetrics) {
        (self.composer, self.devices, self.tokens) = (composer, devices, tokens)
        (self.apple, self.metrics) = (apple, metrics)
    }

    package var name: DeliveryChannelName { .apns }
    package var servers: [String] { [production.name, sandbox.name] }

    private func server(_ environment: Device.Environment) -> PushServer {
        environment == .production ? production : sandbox
    }

    /// The bundle id of devices that name none.
    var topic: String { apple.topic }

    package func send(_ delivery: Delivery) async -> DeliveryOutcome {
        await PushOutcome.of(production.name) {
            guard let push = try await composer.compose(delivery) else { return .pointless }
            return try await send(push)
        }
    }

    /// Sends a push to its device.
    ///
    /// - Throws: `PostgresError`, `CryptographyError`, ``ProviderTokens/NotYet``, ``PushServer/Unavailable``.
    func send(_ push: ComposedPush) async throws -> DeliveryOutcome {
        let request = push.apnsRequest(topic: apple.topic)
        guard request.payload.utf8.count <= APNsRequest.maxPayloadBytes else {
            return .refused(reason: "PayloadTooLarge")
        }
        var (environment, answer) = (
            push.device.environment, try await self.answer(to: request, push.device.environment)
        )
        // The app may not know for which of the two its token is.
        if answer.verdict == .otherEnvironment {
            environment = environment.other
            answer = try await self.answer(to: request, environment)
        }
        let reason = answer.reason ?? "\(answer.status)"
        switch answer.verdict {
        case .accepted:
            // Apple has it, whatever becomes of the note: otherwise it would come twice.
            if environment != push.device.environment { try? await devices.note(environment, of: push.device) }
            return .sent
        case .otherEnvironment, .otherApp:
            return try await remove(push.device, because: reason)
        case .gone(let since):
            // It was registered again since.
            guard since > push.device.registeredAt else { return .notNow(reason: "410 of an older registration") }
            return try await remove(push.device, because: reason)
        case .expiredToken: return .notNow(reason: reason)
        case .notNow where answer.status >= 500:
            return server(environment).unavailable(reason, for: answer.retryAfter)
        // Too many for one device say nothing of the others.
        case .notNow where answer.status == 429 && answer.retryAfter == nil && reason != "TooManyRequests":
            return .unavailable(reason: reason, server: server(environment).name)
        case .notNow: return .notNow(reason: reason, retryAfter: answer.retryAfter)
        // The device has named a topic that is none of the team's.
        case .refused where push.device.topic != nil && ["BadTopic", "TopicDisallowed"].contains(reason):
            return try await remove(push.device, because: reason)
        case .refused: return .refused(reason: reason)
        }
    }

    private func remove(_ device: Device, because reason: String) async throws -> DeliveryOutcome {
        if try await devices.remove(device) { metrics.removed(.apns, reason) }
        return .refused(reason: reason)
    }

    /// What Apple says; with a new provider token when it calls the present one expired.
    func answer(to request: APNsRequest, _ environment: Device.Environment) async throws -> APNsAnswer {
        let issuer = ProviderTokens.Issuer(name: "apns \(apple.key.teamID) \(apple.key.id)") { [key = apple.key] date in
            try key.token(at: date)
        }
        let client = environment == .production ? apple.production : apple.sandbox
        return try await tokens.use(issuer) { token in
            let answer = try await server(environment).answer { try await client.send(request, token: token) }
            return (answer, isExpired: answer.verdict == .expiredToken)
        }
    }
}
