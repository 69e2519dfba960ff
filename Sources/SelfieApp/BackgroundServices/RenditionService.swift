import SelfiePhotos
import ServiceLifecycle

/// Makes small pictures of new photos while nobody waits for others.
struct RenditionService: Service {
    let make: MakeRendition
    /// Whether new photos are rendered before somebody asks.
    let includesBacklog: Bool

    func run() async {
        await cancelWhenGracefulShutdown { await make.run(includesBacklog: includesBacklog) }
    }
}
