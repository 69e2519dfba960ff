import Concurrency
import CoreMetrics
import Cryptography
package import Curl
import Deliveries
package import FoundationEssentials
import Glibc
package import HTTPConnection
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ObjectStore
import Postgres
import Prometheus
package import Renderer
import S3
import SelfieAccounts
package import SelfieConfiguration
import SelfieCore
import SelfieNotifications
import SelfieRecords
import SelfieWeb
import ServiceLifecycle
import Webhooks

/// The whole service.
///
/// Read this first.
///
/// It makes stores and use cases from the configuration and passes them to the web. `run` serves until a graceful
/// shutdown.
package struct SelfieService: Service {
    /// The settings.
    var configuration: ServiceConfiguration
    let hostname: String
    let port: Int
    let logger: Logger
    private let onRunning: @Sendable (Int) async -> Void
    /// The limits of each connection.
    package var limits = ConnectionLimits()
    /// Whether the background services run.
    var worksInBackground = true
    /// How often the sweeper runs.
    var sweepInterval: Duration = .seconds(5)
    /// How often the last use of sessions is written to the database.
    var sessionUseInterval: Duration = .seconds(10)
    /// How often the time is written that standbys are compared with.
    var heartbeatInterval = ReplicationHeartbeat.interval
    /// How often the counts of passwords that can't be decrypted are written to the database.
    var undecryptablePasswordInterval: Duration = .seconds(10)
    /// How often expired records are removed: none is left after a minute.
    var expiryInterval: Duration = .seconds(30)
    /// How often old rows are removed.
    var tidyInterval: Duration = .seconds(300)
    /// The permits that clients share, without downloads and streams: their limits follow from those of connections.
    var permits = WebPermits()
    /// How often the log has a line about connections that were closed because there were too many.
    var reportInterval: Duration = .seconds(10)
    /// How often free memory is returned.
    var trimInterval: Duration = .seconds(10)
    /// How a bucket is used.
    var bucket = BucketOptions()
    /// How connections to webhooks are made.
    package var webhookConnections = CurlConfiguration()
    /// How connections to Apple and Google are made.
    package var pushConnections = CurlConfiguration()
    /// How connections to a mail server are made.
    package var mailConnections = CurlConfiguration()
    /// Prints a line about each file of the outbox of development.
    package var announceDelivery: @Sendable (String) -> Void = { _ in }
    /// The cost of new hashes; nil for the configuration's.
    package var passwordHashCost: Int?
    /// How many hashes are computed at once, and how many may wait.
    var passwordHashing = PasswordHasherOptions(coreCount: System.coreCount)
    /// Whether small pictures of new photos are made before somebody asks for them.
    var rendersInBackground = true
    /// Decodes photos for small pictures.
    package var renderer = RenderProcess.programBesideThis.map { RenderProcess(program: $0) }
    /// The time for tokens, URLs and requests to the store.
    package var now: @Sendable () -> Date = { Date() }
    /// The clock for remembering refusals.
    var clock: any MonotonicClock = ContinuousClock()
    /// Whether it notifies other processes of changes at once; otherwise they see changes within ten seconds.
    package var sendsNotifications = true
    /// The migrations that the service needs, by version.
    package var schemaVersions: Set<String> = []
    /// Called with the port of the metrics when they can be fetched.
    var onMetricsRunning: @Sendable (Int) async -> Void = { _ in }

    /// - Parameters:
    ///   - configuration: The settings.
    ///   - hostname: The address to listen on.
    ///   - port: The port to listen on; 0 for any free port.
    ///   - logger: The log.
    ///   - onRunning: Called with the port when the service accepts requests.
    package init(
        configuration: ServiceConfiguration,
        hostname: String,
        port: Int,
        logger: Logger,
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.hostname = hostname
        self.port = port
        self.logger = logger
        self.onRunning = onRunning
    }

    /// Serves until a graceful shutdown, which lets running requests finish, or until it is cancelled.
    ///
    /// - Throws: `ServiceStartError`, or another error that stops the service.
    package func run() async throws {
        try LibCrypto.check()
        let connections = ConnectionBudget(openFileLimit: OpenFileLimit.raise(), configuration: configuration)
        noteSettings(connections)
        let hasher = try PasswordHasher(
            cost: passwordHashCost ?? configuration.passwordHashCost,
            options: passwordHashing
        )
        let observability = Observability(configuration, logger: logger)
        do {
            let database = observability.observed(configuration.postgres)
            try await PostgresClient.withClient(configuration: database) { postgres in
                try await serve(
                    postgres: postgres,
                    hasher: hasher,
                    curl: CurlClient(S3Client.connections(deadlines: bucket.deadlines)),
                    connections: connections,
                    observability: observability
                )
            }
        } catch {
            try? await hasher.shutDown()
            throw error
        }
        try await hasher.shutDown()
    }

    private func serve(
        postgres: PostgresClient,
        hasher: PasswordHasher,
        curl: CurlClient,
        connections: ConnectionBudget,
        observability: Observability
    ) async throws {
        let objects = observability.observed(
            try await configuration.objectStorage.open(
                curl: curl,
                options: observability.observed(bucket),
                now: now,
                logger: logger
            )
        )
        let mail = try accountMail()
        let useCases = UseCases(
            postgres: postgres,
            objects: objects,
            hasher: hasher,
            renderer: renderer,
            mail: mail,
            webhooks: webhookRoute(),
            push: pushRoute(),
            metrics: observability.registry ?? NOOPMetricsHandler.instance,
            settings: configuration,
            clock: clock,
            now: now,
            transferPauses: bucket.transferPauses,
            sendsNotifications: sendsNotifications,
            logger: logger
        )
        let metrics = RequestMetrics(factory: observability.registry)
        var permits = permits
        permits.setLimits(ofDownloads: connections.downloads, maxStreams: connections.streams)
        let parts = WebParts(
            settings: configuration,
            endpoints: Routes.endpoints(openedBy: configuration),
            useCases: useCases,
            objects: objects,
            permits: permits,
            readiness: Readiness(postgres: postgres, versions: schemaVersions, objects: objects, logger: logger),
            metrics: metrics,
            tracer: observability.tracer,
            now: now,
            logger: logger
        )
        let (connectionPermits, traffic) = (connections.permits, TrafficMeter())
        let sources = MetricsSampler.Sources(
            connections: connectionPermits,
            traffic: traffic,
            uploads: permits.uploads,
            hasher: hasher,
            useCases: useCases
        )
        let background = worksInBackground ? backgroundServices(useCases, connectionPermits) : []
        let observers = observability.services + metricsServers(observability.registry, sources)
        let (socket, tasks) = (ListeningSocket(), ConnectionTasks())
        let server = server(Routes.responder(parts), socket: socket) { [limits, logger] responder in
            HTTPConnection(
                responder: responder,
                limits: limits,
                permits: connectionPermits,
                tasks: tasks,
                traffic: traffic,
                refuse: ConnectionRefusals(metrics: metrics, logger: logger).answer
            )
        }
        let hub = useCases.records.followChanges.hub
        let serving = ServerService(server: server, socket: socket, connections: tasks, logger: logger)
        try await run(background + observers + [ChangeFeed(hub: hub), serving]) {
            hub.stop()
            useCases.deliveries.stop()
        }
    }

    /// How users get mails; nil when they get none.
    private func accountMail() throws -> AccountMail? {
        guard let mail = configuration.mail else { return nil }
        let route: MailRoute =
            switch mail.destination {
            case .server(let server): .server(server, CurlClient(mailConnections))
            case .outbox(let folder): .outbox(Outbox(folder: folder, announce: announceDelivery))
            }
        return AccountMail(
            identity: MailIdentity(sender: mail.sender, appName: mail.appName, appURL: mail.appURL),
            templates: try mail.templates.map { try MailTemplates(folder: $0) } ?? MailTemplates(),
            route: route,
            tellsOfSignIns: mail.tellsOfSignIns
        )
    }

    /// Where events for webhooks go.
    private func webhookRoute() -> WebhookChannel.Route {
        if let folder = configuration.outbox {
            return .outbox(Outbox(folder: folder, announce: announceDelivery))
        }
        return .receivers(WebhookSender(networks: configuration.webhookNetworks, connections: webhookConnections))
    }

    /// Where pushes go.
    private func pushRoute() -> PushRoute {
        if let folder = configuration.outbox { return .outbox(Outbox(folder: folder, announce: announceDelivery)) }
        return configuration.push.route(connections: pushConnections)
    }

    /// The server of metrics, if there is to be one.
    private func metricsServers(_ registry: PrometheusRegistry?, _ sources: MetricsSampler.Sources) -> [any Service] {
        guard let address = configuration.metricsAddress, let registry else { return [] }
        return [
            MetricsServer(
                address: address,
                registry: registry,
                sampler: MetricsSampler(sources, schemaVersion: schemaVersions.max(), factory: registry),
                logger: logger,
                onRunning: onMetricsRunning
            )
        ]
    }

    /// How many connections the kernel holds until they are accepted.
    private static let backlog = 4096

    private func server(
        _ responder: ServiceResponder,
        socket: ListeningSocket,
        connection: @escaping @Sendable (@escaping HTTPChannelHandler.Responder) -> HTTPConnection
    ) -> any Service {
        // The log has the request's own id. Hummingbird's would be a second one.
        Application(
            responder: responder,
            server: HTTPServerBuilder(connection),
            configuration: ApplicationConfiguration(
                address: .hostname(hostname, port: port),
                serverName: nil,
                backlog: Self.backlog
            ),
            onServerRunning: { channel in
                socket.opened(channel)
                let port = channel.localAddress?.port ?? port
                noteStart(port: port)
                await onRunning(port)
            },
            logger: logger
        )
    }

    private func run(_ services: [any Service], onShutdown: @escaping @Sendable () -> Void) async throws {
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        do {
            try await withGracefulShutdownHandler {
                try await group.run()
            } onGracefulShutdown: { [logger] in
                logger.notice("stopping: no new connections, and requests under way are finished")
                onShutdown()
            }
            logger.notice("stopped")
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ServiceStartError.addressInUse(hostname: hostname, port: port)
        }
    }
}
