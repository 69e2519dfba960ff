package import Deliveries
import FoundationEssentials
import JSON
package import Push

/// Sends pushes to Google.
package struct FCMChannel: DeliveryChannel {
    /// Google's server, and who sends.
    package struct Google: Sendable {
        let account: FCMAccount
        let client: FCMClient

        /// - Parameters:
        ///   - account: Who sends.
        ///   - client: Speaks to the server as this account.
        package init(account: FCMAccount, client: FCMClient) {
            (self.account, self.client) = (account, client)
        }
    }

    private let composer: PushComposer
    private let devices: DeviceStore
    private let tokens: ProviderTokens
    private let google: Google
    private let server = PushServer("google")
    private let metrics: PushMetrics

    init(composer: PushComposer, devices: DeviceStore, tokens: ProviderTokens, google: Google, metrics: PushMetrics) {
        (self.composer, self.devices, self.tokens) = (composer, devices, tokens)
        (self.google, self.metrics) = (google, metrics)
    }

    package var name: DeliveryChannelName { .fcm }
    package var servers: [String] { [server.name] }

    package func send(_ delivery: Delivery) async -> DeliveryOutcome {
        await PushOutcome.of(server.name) {
            guard let push = try await composer.compose(delivery) else { return .pointless }
            return try await send(push)
        }
    }

    /// Sends a push to its device.
    ///
    /// - Throws: `CurlFailure` of the server of access tokens, `PostgresError`, `CryptographyError`, ``ProviderTokens/NotYet``, ``PushServer/Unavailable``,
    ///   `FCMClient.TokenRefused`.
    func send(_ push: ComposedPush) async throws -> DeliveryOutcome {
        let answer = try await answer(to: push.fcmMessage)
        let reason = answer.code ?? "\(answer.status)"
        switch answer.verdict {
        case .accepted: return .sent
        case .gone:
            if try await devices.remove(push.device) { metrics.removed(.fcm, reason) }
            return .refused(reason: reason)
        case .expiredToken: return .notNow(reason: reason)
        case .notNow:
            if answer.status >= 500 { return server.unavailable(reason, for: answer.retryAfter) }
            if answer.status == 429, answer.retryAfter == nil {
                return .unavailable(reason: reason, server: server.name)
            }
            return .notNow(reason: reason, retryAfter: answer.retryAfter)
        case .refused: return .refused(reason: reason)
        }
    }

    /// What Google says; with a new access token when it calls the present one expired.
    ///
    /// - Throws: `CurlFailure` of the server of access tokens, `PostgresError`, `CryptographyError`, ``ProviderTokens/NotYet``, ``PushServer/Unavailable``,
    ///   `FCMClient.TokenRefused`.
    func answer(to message: JSONValue, isOnlyChecked: Bool = false) async throws -> FCMAnswer {
        let (account, client) = (google.account, google.client)
        let issuer = ProviderTokens.Issuer(name: "fcm \(account.projectID) \(account.email)") { date in
            try await client.fetchToken(at: date)
        }
        return try await tokens.use(issuer) { token in
            let answer = try await server.answer {
                try await client.send(message, token: token, isOnlyChecked: isOnlyChecked)
            }
            return (answer, isExpired: answer.verdict == .expiredToken)
        }
    }
}
