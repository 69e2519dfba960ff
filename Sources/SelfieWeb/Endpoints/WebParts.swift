import AESCrypt
package import FoundationEssentials
package import Logging
package import ObjectStore
import SelfieAccounts
package import SelfieConfiguration
package import SelfieCore
package import Traces

/// The shared parts of the endpoints.
///
/// It is a class, because each request would copy a value of this size.
package final class WebParts: Sendable {
    let settings: ServiceConfiguration
    /// The descriptions of all calls that are open.
    let endpoints: [Endpoint]
    let useCases: UseCases
    let objects: any ObjectStore
    let permits: WebPermits
    /// The memory of answers about records and members.
    let answers: AnswerMemory.Budget
    /// One for all groups, so that a list makes room for any other.
    let listCache: ListCache
    let sources: RequestSourceReader
    let photoURLs: PhotoURLSigner
    let readiness: Readiness
    let metrics: RequestMetrics
    let changeMetrics: ChangeMetrics
    let tracer: SpanTracer
    let now: @Sendable () -> Date

    var cipher: AESCrypt { AESCrypt(passphrase: settings.apiCredential.password) }
    var origin: PublicOrigin { PublicOrigin(configured: settings.publicURL) }

    /// - Parameters:
    ///   - settings: The settings.
    ///   - endpoints: The descriptions of all calls that are open.
    ///   - useCases: The use cases.
    ///   - objects: The store of photos' bytes.
    ///   - permits: What clients share.
    ///   - readiness: Whether the service can do its work.
    ///   - metrics: Counts requests and refusals.
    ///   - tracer: Takes traces over and passes them on.
    ///   - now: The time for tokens and URLs.
    ///   - logger: Logs a warning about requests that seem to come through an unknown proxy.
    package init(
        settings: ServiceConfiguration,
        endpoints: [Endpoint],
        useCases: UseCases,
        objects: any ObjectStore,
        permits: WebPermits,
        readiness: Readiness,
        metrics: RequestMetrics,
        tracer: SpanTracer,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.settings = settings
        self.endpoints = endpoints
        self.useCases = useCases
        self.objects = objects
        self.permits = permits
        answers = AnswerMemory.Budget(permits.answers, minTime: permits.minTimeOfAnswers)
        listCache = ListCache(permits.cachedLists)
        sources = RequestSourceReader(trustedProxies: settings.trustedProxies, logger: logger)
        photoURLs = PhotoURLSigner(secret: settings.secretKeyBase)
        self.readiness = readiness
        self.metrics = metrics
        changeMetrics = ChangeMetrics(factory: metrics.factory)
        self.tracer = tracer
        self.now = now
    }
}
