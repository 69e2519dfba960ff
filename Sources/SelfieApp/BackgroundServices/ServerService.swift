import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The server, which takes the connections that wait to be accepted before it stops listening.
///
/// The system resets those that wait when the listening socket is closed. A proxy has perhaps sent a request over one already,
/// and may not send a POST again.
struct ServerService: Service {
    let server: any Service
    let logger: Logger

    /// How often each event loop gets a turn before the end: a turn accepts some connections.
    private static let turns = 32

    func run() async throws {
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        // Detached, so that it does not hear of the shutdown before the connections are taken.
        let running = Task.detached { try await group.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await running.value
            } onGracefulShutdown: {
                Task {
                    await acceptWaiting()
                    await group.triggerGracefulShutdown()
                }
            }
        } onCancel: {
            running.cancel()
        }
    }

    private func acceptWaiting() async {
        for _ in 0..<Self.turns {
            for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                try? await eventLoop.submit {}.get()
            }
        }
    }
}
