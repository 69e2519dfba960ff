package import CoreMetrics
package import Deliveries
import FoundationEssentials
package import Postgres
import Push
import SelfieRecords

/// Where pushes go.
package enum PushRoute: Sendable {
    /// To Apple and Google, or one of them.
    case providers(apple: APNsChannel.Apple?, google: FCMChannel.Google?)
    /// Into a folder, for development.
    case outbox(Outbox)

    /// The platforms whose devices can be reached.
    package var platforms: [Device.Platform] {
        switch self {
        case .providers(let apple, let google): [apple.map { _ in .apns }, google.map { _ in .fcm }].compactMap(\.self)
        case .outbox: Device.Platform.allCases
        }
    }
}

/// The channels of pushes.
package struct Pushes: Sendable {
    package let channels: [any DeliveryChannel]
    private let devices: DeviceStore
    let apns: APNsChannel?
    let fcm: FCMChannel?
    private let outboxes: [PushOutboxChannel]

    /// - Parameters:
    ///   - route: Where they go.
    ///   - postgres: The database.
    ///   - secret: `SECRET_KEY_BASE`, which seals the tokens of providers.
    ///   - sendsContents: Whether fields of records may leave the service.
    ///   - metrics: Counts devices that are removed.
    package init(
        route: PushRoute,
        postgres: PostgresClient,
        secret: String,
        sendsContents: Bool,
        metrics: any MetricsFactory
    ) {
        let composer = PushComposer(postgres: postgres, sendsContents: sendsContents)
        let devices = DeviceStore(postgres: postgres)
        self.devices = devices
        switch route {
        case .outbox(let outbox):
            (apns, fcm) = (nil, nil)
            outboxes = route.platforms.map { PushOutboxChannel(platform: $0, composer: composer, outbox: outbox) }
            channels = outboxes
        case .providers(let apple, let google):
            let (tokens, metrics) = (
                ProviderTokens(postgres: postgres, secret: secret), PushMetrics(factory: metrics)
            )
            let apns = apple.map {
                APNsChannel(composer: composer, devices: devices, tokens: tokens, apple: $0, metrics: metrics)
            }
            let fcm = google.map {
                FCMChannel(composer: composer, devices: devices, tokens: tokens, google: $0, metrics: metrics)
            }
            (self.apns, self.fcm, outboxes) = (apns, fcm, [])
            channels = [apns as (any DeliveryChannel)?, fcm].compactMap(\.self)
        }
    }

    /// A sentence for each metric, by its name in Prometheus.
    package static let help = PushMetrics.help

    /// Sends a push to each of a user's devices at once, to see whether it arrives.
    ///
    /// - Parameter userID: The user.
    /// - Returns: The devices, and what came of it; nil where a platform is not set up.
    /// - Throws: `PostgresError`.
    package func test(ofUser userID: Int) async throws -> [(device: Device, outcome: DeliveryOutcome?)] {
        var outcomes: [(Device, DeliveryOutcome?)] = []
        for device in try await devices.list(ofUser: userID) {
            let push = ComposedPush.test(device, at: Date())
            let outcome: DeliveryOutcome?
            if let outbox = outboxes.first(where: { $0.platform == device.platform }) {
                outcome = await PushOutcome.of("outbox") { try outbox.write(push) }
            } else {
                switch device.platform {
                case .apns:
                    outcome = await apns.asyncMap { apns in await PushOutcome.of("apns") { try await apns.send(push) } }
                case .fcm:
                    outcome = await fcm.asyncMap { fcm in await PushOutcome.of("fcm") { try await fcm.send(push) } }
                }
            }
            outcomes.append((device, outcome))
        }
        return outcomes
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async -> Result) async -> Result? {
        guard let self else { return nil }
        return await transform(self)
    }
}

extension ComposedPush {
    /// A push that shows whether a device can be reached.
    fileprivate static func test(_ device: Device, at date: Date) -> ComposedPush {
        ComposedPush(
            id: UUID(),
            device: device,
            alert: "This is a test.",
            sound: nil,
            badge: nil,
            isSilent: false,
            collapse: nil,
            hint: Hint(collection: "test", id: "test", type: .created, subscription: "test"),
            expiresAt: date.addingTimeInterval(300)
        )
    }
}
