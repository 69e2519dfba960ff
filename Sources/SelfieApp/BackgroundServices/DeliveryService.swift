import Deliveries
import ServiceLifecycle

/// Sends what goes out.
struct DeliveryService: Service {
    let worker: DeliveryWorker

    func run() async {
        await withGracefulShutdownHandler {
            await worker.run()
        } onGracefulShutdown: {
            worker.stop()
        }
        // The worker stops at once. The group wants its services to end in their order.
        try? await gracefulShutdown()
    }
}
