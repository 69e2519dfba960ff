import HTTPConnection
import ServiceLifecycle

/// Waits at the end until the last connection is closed.
///
/// The server does not wait for connections that it accepted at the moment of its end. They handle themselves.
struct ConnectionDrain: Service {
    let places: ConnectionPlaces

    private static let pause: Duration = .milliseconds(20)

    func run() async throws {
        try? await gracefulShutdown()
        while places.count > 0, !Task.isCancelled { try? await Task.sleep(for: Self.pause) }
    }
}
