import AsyncHTTPClient
import Budgets
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
import S3
package import SelfieConfiguration
import SelfieCore
import SelfieWeb
import ServiceLifecycle

/// The whole service.
///
/// Read this first.
///
/// It makes stores and use cases from the configuration and hands them to the web. `run` serves until it is told to
/// shut down.
package struct PhotoService: Service {
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
    /// How often the counts of passwords that can't be decrypted are written to the database.
    var undecryptablePasswordInterval: Duration = .seconds(10)
    /// How often expired records are removed: they are gone within a minute.
    var expiryInterval: Duration = .seconds(30)
    /// How often old rows are removed.
    var tidyInterval: Duration = .seconds(300)
    /// The memory and the disk that uploads share while they wait for the store.
    var spoolBudget = SpoolBudget()
    /// The memory that lists share.
    var listBudget = ListBudget()
    /// The memory that bodies with records share.
    var recordBodyBudget = ByteBudget<Int>.ofRecordBodies()
    /// The lists of records with several conditions that are read at once; the holders are users.
    var searches = Places<Int>.ofSearches()
    /// How often the log tells that connections were closed because there were too many.
    var reportInterval: Duration = .seconds(10)
    /// How often free memory is returned.
    var trimInterval: Duration = .seconds(10)
    /// How a bucket is used.
    var bucket = BucketOptions()
    /// The cost of new hashes; nil for the configuration's.
    package var passwordHashCost: Int?
    /// How many hashes are computed at once, and how many may wait.
    var passwordHashing = PasswordHasherOptions(coreCount: System.coreCount)
    /// The time for tokens and URLs.
    package var now: @Sendable () -> Date = { Date() }
    /// The clock for remembering refusals.
    var uptime: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Whether other processes are told of changes at once, instead of within ten seconds.
    package var sendsNotifications = true
    /// The migrations that the service needs, by version.
    package var schemaVersions: Set<String> = []
    /// Called with the port of the figures when they can be fetched.
    var onMetricsRunning: @Sendable (Int) async -> Void = { _ in }
    /// The clock of the store's files and of requests to it.
    package var storeNow: @Sendable () -> Date = { Date() }

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
        let connections = ConnectionBudget(openFileLimit: OpenFileLimit.raise(), configuration: configuration)
        noteSettings(connections)
        let hasher = try PasswordHasher(
            cost: passwordHashCost ?? configuration.passwordHashCost,
            options: passwordHashing
        )
        let observability = Observability(configuration, logger: logger)
        do {
            try await S3Client.withHTTPClient(deadlines: bucket.deadlines) { httpClient in
                let database = observability.observed(configuration.postgres)
                try await PostgresClient.withClient(configuration: database) { postgres in
                    try await serve(
                        postgres: postgres,
                        hasher: hasher,
                        httpClient: httpClient,
                        connections: connections,
                        observability: observability
                    )
                }
            }
        } catch {
            try? await hasher.shutDown()
            try? await observability.shutDown()
            throw error
        }
        // Both, whatever becomes of the first.
        try? await observability.shutDown()
        try await hasher.shutDown()
    }

    private func serve(
        postgres: PostgresClient,
        hasher: PasswordHasher,
        httpClient: HTTPClient,
        connections: ConnectionBudget,
        observability: Observability
    ) async throws {
        let objects = observability.observed(
            try await configuration.objectStorage.open(
                httpClient: httpClient,
                options: observability.observed(bucket),
                now: storeNow,
                logger: logger
            )
        )
        let useCases = UseCases(
            postgres: postgres,
            objects: objects,
            hasher: hasher,
            settings: configuration.useCases,
            clocks: UseCases.Clocks(now: now, uptime: uptime, storeNow: storeNow),
            sendsNotifications: sendsNotifications,
            logger: logger
        )
        let metrics = RequestMetrics(factory: observability.registry)
        let parts = WebParts(
            useCases: useCases,
            objects: objects,
            settings: webSettings,
            spoolBudget: spoolBudget,
            listBudget: listBudget,
            recordBodyBudget: recordBodyBudget,
            searches: searches,
            downloadLimits: connections.downloads,
            maxStreams: connections.streams,
            readiness: Readiness(postgres: postgres, versions: schemaVersions, objects: objects, logger: logger),
            metrics: metrics,
            tracer: observability.tracer,
            now: now,
            logger: logger
        )
        let (places, traffic) = (connections.places, TrafficMeter())
        let figures = FigureSampler.Sources(
            places: places,
            traffic: traffic,
            spool: spoolBudget,
            hasher: hasher,
            useCases: useCases
        )
        let background = worksInBackground ? backgroundServices(useCases, places) : []
        let observers = observability.services + metricsServers(observability.registry, figures)
        let drain = ConnectionDrain(places: places)
        let socket = ListeningSocket()
        let hub = useCases.followChanges.hub
        try await run(
            background + observers + [
                ChangeFeed(hub: hub),
                drain,
                ServerService(
                    server: server(
                        Routes.responder(parts),
                        places: places,
                        traffic: traffic,
                        metrics: metrics,
                        socket: socket
                    ),
                    socket: socket,
                    logger: logger
                ),
            ],
            hub: hub
        )
    }

    /// The server of figures, if anybody asks for them.
    private func metricsServers(_ registry: PrometheusRegistry?, _ sources: FigureSampler.Sources) -> [any Service] {
        guard let address = configuration.metricsAddress, let registry else { return [] }
        return [
            MetricsServer(
                address: address,
                registry: registry,
                sampler: FigureSampler(sources, schemaVersion: schemaVersions.max(), factory: registry),
                logger: logger,
                onRunning: onMetricsRunning
            )
        ]
    }

    private var webSettings: WebParts.Settings {
        WebParts.Settings(
            apiCredential: configuration.apiCredential,
            trustedProxies: configuration.trustedProxies.origin == .nobody ? nil : configuration.trustedProxies.count,
            publicURL: configuration.publicURL,
            maxUploadBytes: configuration.maxUploadBytes,
            redirectsToBucket: configuration.photoDelivery == .redirect,
            secretKeyBase: configuration.secretKeyBase,
            corsOrigins: configuration.corsOrigins,
            hasPublicDocs: configuration.hasPublicDocs,
            hasGallery: configuration.hasGallery,
            hasDirectory: configuration.hasDirectory,
            facts: APIFacts(
                version: SelfieVersion.current,
                maxUploadBytes: configuration.maxUploadBytes,
                rateLimits: configuration.rateLimits
            )
        )
    }

    /// How many connections the kernel holds until they are accepted.
    private static let backlog = 4096

    private func server(
        _ responder: ServiceResponder,
        places: ConnectionPlaces,
        traffic: TrafficMeter,
        metrics: RequestMetrics,
        socket: ListeningSocket
    ) -> any Service {
        // The log has the request's own id. Hummingbird's would be a second one.
        Application(
            responder: responder,
            server: HTTPServerBuilder { [limits, logger] responder in
                HTTPConnection(
                    responder: responder,
                    limits: limits,
                    places: places,
                    traffic: traffic,
                    refuse: ConnectionRefusals(metrics: metrics, logger: logger).answer
                )
            },
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

    private func run(_ services: [any Service], hub: ChangeHub) async throws {
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        do {
            try await withGracefulShutdownHandler {
                try await group.run()
            } onGracefulShutdown: { [logger] in
                logger.notice("stopping: no new connections, and requests under way are finished")
                hub.stop()
            }
            logger.notice("stopped")
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ServiceStartError.addressInUse(hostname: hostname, port: port)
        }
    }
}
