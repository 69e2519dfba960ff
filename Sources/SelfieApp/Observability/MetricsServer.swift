import Glibc
import HTTPConnection
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Prometheus
import SelfieConfiguration
import SelfieWeb
import ServiceLifecycle

/// Serves the metrics to Prometheus, on a port of its own, which clients of the API do not reach.
struct MetricsServer: Service {
    let address: MetricsAddress
    let registry: PrometheusRegistry
    let sampler: MetricsSampler
    let logger: Logger
    /// Called with the port when the server accepts requests.
    let onRunning: @Sendable (Int) async -> Void

    /// As many as all scrapers and people need.
    private static let maxConnections = 32

    /// Serves until a graceful shutdown.
    ///
    /// - Throws: `ServiceStartError.metricsAddressInUse`.
    func run() async throws {
        let connections = ConnectionTasks()
        do {
            try await application(connections).run()
            await connections.finish()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ServiceStartError.metricsAddressInUse(host: address.host, port: address.port)
        }
    }

    private func application(_ connections: ConnectionTasks) -> some ApplicationProtocol {
        let permits = ConnectionPermits(
            total: Self.maxConnections,
            perAddress: Self.maxConnections,
            perSite: Self.maxConnections
        )
        return Application(
            responder: CallbackResponder { request, _ in await answer(request) }
                as CallbackResponder<BasicRequestContext>,
            server: HTTPServerBuilder { [logger] responder in
                HTTPConnection(
                    responder: responder,
                    limits: ConnectionLimits(),
                    permits: permits,
                    tasks: connections,
                    traffic: TrafficMeter(),
                    refuse: ConnectionRefusals(metrics: RequestMetrics(factory: nil), logger: logger).answer
                )
            },
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                serverName: nil
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info("metrics for Prometheus", metadata: ["address": "\(address.host)", "port": "\(port)"])
                await onRunning(port)
            },
            logger: quietLogger
        )
    }

    /// Its line of a started server would look as the API's does.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .notice)
        return logger
    }

    private func answer(_ request: Request) async -> Response {
        guard request.uri.path == "/metrics", request.method == .get || request.method == .head else {
            return Response(status: .notFound)
        }
        await sampler.sample()
        let response = Response(
            status: .ok,
            headers: [.contentType: PrometheusRegistry.contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: registry.text()))
        )
        return request.method == .head ? response.createHeadResponse() : response
    }
}
