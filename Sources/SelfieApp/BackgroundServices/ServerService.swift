import HTTPConnection
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// The server, which takes the connections that wait to be accepted before it stops listening, and waits for the last connection.
///
/// The system resets those that wait when the listening socket is closed. A proxy has perhaps sent a request over one already,
/// and may not send a POST again.
struct ServerService: Service {
    let server: any Service
    let socket: ListeningSocket
    let connections: ConnectionTasks
    let logger: Logger

    /// How many turns each event loop gets at most: a turn accepts some connections.
    ///
    /// Under a flood, there would always be more of them.
    private static let maxTurns = 2_000
    private static let lastTurns = 32

    func run() async throws {
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        // Detached, so that the shutdown does not reach it before the connections are taken.
        let running = Task.detached { try await group.run() }
        let result = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await running.result
            } onGracefulShutdown: {
                Task {
                    await acceptWaiting()
                    await group.triggerGracefulShutdown()
                }
            }
        } onCancel: {
            running.cancel()
        }
        await connections.finish()
        try result.get()
    }

    private func acceptWaiting() async {
        for _ in 0..<Self.maxTurns {
            await takeTurn()
            if await socket.waitingCount == 0 { break }
        }
        // Those that were accepted last are not with the server yet.
        for _ in 0..<Self.lastTurns { await takeTurn() }
    }

    /// Waits until each event loop has done what it had to do.
    private func takeTurn() async {
        for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            try? await eventLoop.submit {}.get()
        }
    }
}

/// The socket on which the server listens, once it does.
final class ListeningSocket: Sendable {
    private let channel = Mutex<(any Channel)?>(nil)

    func opened(_ channel: any Channel) {
        self.channel.withLock { $0 = channel }
    }

    /// How many connections wait to be accepted.
    ///
    /// Source: Linux, net/ipv4/tcp.c, `tcp_get_info`: for a listening socket, `tcpi_unacked` is the length of its line.
    fileprivate var waitingCount: Int {
        get async {
            guard let options = channel.withLock({ $0 }) as? any SocketOptionProvider else { return 0 }
            return (try? await options.getTCPInfo().get()).map { Int($0.tcpi_unacked) } ?? 0
        }
    }
}
