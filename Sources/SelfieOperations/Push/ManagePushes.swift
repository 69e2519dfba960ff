import CoreMetrics
package import Curl
package import Deliveries
package import FoundationEssentials
import Postgres
package import SelfieConfiguration
import SelfieCore
package import SelfieNotifications

/// What the command line does with pushes.
package struct ManagePushes: Sendable {
    private let administration: Administration
    private let pushes: Pushes

    /// A device, as an operator sees it.
    package struct DescribedDevice: Sendable, Encodable {
        package let platform: Device.Platform
        /// The beginning of its token: with all of it, whoever has the app's key can send pushes to the device.
        package let token: String
        package let environment: Device.Environment
        package let topic: String?
        package let badge: Int
        package let registeredAt: Date

        fileprivate init(_ device: Device) {
            (platform, environment, topic) = (device.platform, device.environment, device.topic)
            token = device.token.prefix(8) + "…"
            (badge, registeredAt) = (device.badge, device.registeredAt)
        }
    }

    /// The devices of an account.
    ///
    /// - Parameters:
    ///   - selector: The account.
    ///   - administration: Its database.
    /// - Returns: The devices, the first registered first.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package static func devices(
        of selector: UserSelector,
        _ administration: Administration
    ) async throws -> [DescribedDevice] {
        let user = try await administration.find(selector)
        return try await DeviceStore(postgres: administration.postgres).list(ofUser: user.id).map(DescribedDevice.init)
    }

    /// - Parameters:
    ///   - administration: The database.
    ///   - source: The settings.
    ///   - outbox: A folder that gets all pushes, for development; nil for none.
    ///   - connections: How connections are made.
    /// - Throws: `ConfigurationError`.
    package init(
        _ administration: Administration,
        _ source: ConfigurationSource,
        outbox: String?,
        connections: CurlConfiguration = CurlConfiguration()
    ) throws {
        self.administration = administration
        let (secret, settings) = try source.read { settings in
            let push = settings.push()
            return settings.secretKeyBase().map { ($0, push) }
        }
        pushes = Pushes(
            route: outbox.map { .outbox(Outbox(folder: $0, announce: { _ in })) }
                ?? settings.route(connections: connections),
            postgres: administration.postgres,
            secret: secret,
            sendsContents: false,
            metrics: NOOPMetricsHandler.instance
        )
    }

    /// Sends a push to each device of an account at once.
    ///
    /// - Parameter selector: The account.
    /// - Returns: The devices, and what came of it; nil for a platform that is not set up.
    /// - Throws: `AdministrationError.noSuchUser`, `PostgresError`.
    package func test(
        _ selector: UserSelector
    ) async throws -> [(device: DescribedDevice, outcome: DeliveryOutcome?)] {
        let user = try await administration.find(selector)
        return try await pushes.test(ofUser: user.id).map { (DescribedDevice($0.device), $0.outcome) }
    }
}
