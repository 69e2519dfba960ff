import HTTPTypes
import Hummingbird
import Logging
import SelfieCore
import Synchronization

/// Tells where requests come from.
final class RequestSourceReader: Sendable {
    private let addresses: ClientAddressReader
    private let logger: Logger
    /// Nobody said how many proxies there are, and no request has shown yet that there are any.
    private let expectsNoProxy: Atomic<Bool>

    /// - Parameters:
    ///   - trustedProxies: How many proxies a request passes that can be believed; nil when nobody said.
    ///   - logger: Told of requests that seem to come from a proxy that nobody told of.
    init(trustedProxies: Int?, logger: Logger) {
        addresses = ClientAddressReader(trustedProxies: trustedProxies ?? 0)
        self.logger = logger
        expectsNoProxy = Atomic(trustedProxies == nil)
    }

    /// Where a request comes from.
    func source(of request: Request, context: some ConnectionContext) -> RequestSource {
        if expectsNoProxy.load(ordering: .relaxed), let name = ClientAddressReader.forwardedFor,
            request.headers.contains(name), expectsNoProxy.exchange(false, ordering: .relaxed)
        {
            logger.warning(
                """
                A request has X-Forwarded-For, and TRUSTED_PROXIES is not set: if a proxy adds it, all its clients share \
                the limits of one address
                """
            )
        }
        return RequestSource(
            address: addresses.address(headers: request.headers, socket: context.channel.remoteAddress),
            requestID: context.requestID
        )
    }
}
