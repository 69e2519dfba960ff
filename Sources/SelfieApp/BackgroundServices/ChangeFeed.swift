import SelfieRecords
import ServiceLifecycle

/// Wakes the clients that wait for changes, until the last connection is closed.
struct ChangeFeed: Service {
    let hub: ChangeHub

    func run() async throws {
        await cancelWhenGracefulShutdown { await hub.run() }
    }
}
