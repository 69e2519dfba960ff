import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves requests until a graceful shutdown.
///
/// Hummingbird's `Application` would do the same, and give each request an id, a logger and a task-local value of its
/// own, all of which `RequestLogMiddleware` has its own of.
struct HTTPServer: Service {
    let responder: ServiceResponder
    let address: BindAddress
    let limits: ConnectionLimits
    let onRunning: @Sendable (any Channel) async -> Void
    let logger: Logger

    /// How many connections the kernel takes on before they are accepted.
    private static let backlog = 4096

    func run() async throws {
        let builder = HTTPServerBuilder { [limits] in HTTPConnection(responder: $0, limits: limits) }
        let server = try builder.buildServer(
            configuration: ServerConfiguration(address: address, serverName: nil, backlog: Self.backlog),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { [responder, logger] request, writer, channel in
                let context = ServiceRequestContext(
                    source: ApplicationRequestContextSource(channel: channel, logger: logger)
                )
                var response = try await responder.respond(to: request, context: context)
                response.headers[.date] = HTTPDate.now()
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: onRunning
        )
        try await server.run()
    }
}
