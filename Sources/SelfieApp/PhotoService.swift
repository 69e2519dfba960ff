import AsyncHTTPClient
package import FoundationEssentials
import Glibc
import HTTPConnection
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ObjectStore
import Postgres
import S3
package import SelfieConfiguration
import SelfieCore
import SelfieWeb
import ServiceLifecycle

/// The service, put together; read this first.
///
/// Configuration comes in, stores and use cases are made and handed to the web, and `run` serves until it is told to shut
/// down.
package struct PhotoService: Service {
    /// What the service is told from outside.
    var configuration: ServiceConfiguration
    private let hostname: String
    private let port: Int
    private let logger: Logger
    private let onRunning: @Sendable (Int) async -> Void
    /// How much and how long a connection may take.
    var limits = ConnectionLimits()
    /// How often half-done work is looked for.
    var sweepInterval: Duration = .seconds(5)
    /// How often the last use of sessions is written down.
    var sessionUseInterval: Duration = .seconds(10)
    /// How often is removed what has had its time.
    var tidyInterval: Duration = .seconds(300)
    /// What uploads share while they wait for the store.
    var spoolMemory = SpoolMemory()
    /// How often memory that is free is looked for.
    var trimInterval: Duration = .seconds(10)
    /// How a bucket is used.
    var bucket = BucketOptions()
    /// The cost of new hashes; nil for that of the configuration.
    package var passwordHashCost: Int?
    /// How many hashes are computed at once, and how many wait.
    var passwordHashing = PasswordHasherOptions(coreCount: System.coreCount)
    /// The time by which tokens and URLs live.
    package var now: @Sendable () -> Date = { Date() }
    /// The time by which refusals are remembered.
    var uptime: @Sendable () -> ContinuousClock.Instant = { .now }
    /// The time by which the store's files and requests to it are dated.
    package var storeNow: @Sendable () -> Date = { Date() }

    /// - Parameters:
    ///   - configuration: What the service is told from outside.
    ///   - hostname: The address to listen on.
    ///   - port: The port to listen on; 0 for any that is free.
    ///   - logger: Where the service reports to.
    ///   - onRunning: Called with the port once requests are taken.
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

    /// Serves until a graceful shutdown, for which running requests may finish, or a cancellation.
    ///
    /// - Throws: `ServiceStartError`, or whatever else keeps the service from running.
    package func run() async throws {
        if configuration.getsTokenWithoutPassword {
            logger.warning(
                "GET_TOKEN_WITHOUT_PASSWORD is on: whoever has the API's credential can take over any account"
            )
        }
        if configuration.rateLimits == nil {
            logger.warning("RATE_LIMITS is off: whoever has the API's credential can try any number of passwords")
        }
        OpenFileLimit.raise()
        let hasher = try PasswordHasher(
            cost: passwordHashCost ?? configuration.passwordHashCost,
            options: passwordHashing
        )
        let result: Result<Void, any Error>
        do {
            try await S3Client.withHTTPClient(deadlines: bucket.deadlines) { httpClient in
                try await PostgresClient.withClient(configuration: configuration.postgres) { postgres in
                    try await serve(postgres: postgres, hasher: hasher, httpClient: httpClient)
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try await hasher.shutDown()
        try result.get()
    }

    private func serve(postgres: PostgresClient, hasher: PasswordHasher, httpClient: HTTPClient) async throws {
        let objects = try await configuration.objectStorage.open(
            httpClient: httpClient,
            options: bucket,
            now: storeNow,
            logger: logger
        )
        let useCases = UseCases(
            postgres: postgres,
            objects: objects,
            hasher: hasher,
            settings: configuration.useCases,
            clocks: UseCases.Clocks(now: now, uptime: uptime, storeNow: storeNow),
            logger: logger
        )
        let parts = WebParts(
            useCases: useCases,
            objects: objects,
            settings: webSettings,
            spoolMemory: spoolMemory,
            now: now,
            logger: logger
        )
        try await run(backgroundServices(useCases) + [server(Routes.responder(parts))])
    }

    private var webSettings: WebParts.Settings {
        WebParts.Settings(
            apiCredential: configuration.apiCredential,
            trustedProxies: configuration.trustedProxies,
            publicURL: configuration.publicURL,
            maxUploadBytes: configuration.maxUploadBytes,
            photoDelivery: configuration.photoDelivery
        )
    }

    private func backgroundServices(_ useCases: UseCases) -> [any Service] {
        let trimmer = MemoryTrimmer()
        return [
            PeriodicService(interval: sweepInterval) {
                await useCases.sweeper.sweepOrWarn()
                return .again
            },
            PeriodicService(interval: tidyInterval) {
                await useCases.housekeeper.tidy()
                return .again
            },
            PeriodicService(interval: sessionUseInterval) {
                await useCases.sessionUses.writeDown()
                return .again
            } atEnd: {
                await useCases.sessionUses.writeDown()
            },
            PeriodicService(interval: trimInterval) {
                trimmer.trimIfWorthwhile()
                return .again
            },
        ]
    }

    /// How many connections the kernel takes on before they are accepted.
    private static let backlog = 4096

    private func server(_ responder: ServiceResponder) -> any Service {
        // The request's own id is in the log; Hummingbird's would be a second one.
        Application(
            responder: responder,
            server: HTTPServerBuilder { [limits] responder in
                HTTPConnection(responder: responder, limits: limits, refusalAnswer: Routes.answer)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(hostname, port: port),
                serverName: nil,
                backlog: Self.backlog
            ),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }

    private func run(_ services: [any Service]) async throws {
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        do {
            try await group.run()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ServiceStartError.addressInUse(hostname: hostname, port: port)
        }
    }
}
