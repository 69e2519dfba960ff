import HTTPTypes
import Hummingbird
import Logging
import SelfieAccounts
import SelfieConfiguration
import Synchronization

/// Finds where requests come from.
final class RequestSourceReader: Sendable {
    let addresses: ClientAddressReader
    private let logger: Logger
    /// True when the number of proxies is not set, and no request has shown a proxy yet.
    private let expectsNoProxy: Atomic<Bool>

    /// - Parameters:
    ///   - trustedProxies: How many proxies a request passes.
    ///   - logger: Logs a warning about requests that seem to come through an unknown proxy.
    init(trustedProxies: TrustedProxies, logger: Logger) {
        addresses = ClientAddressReader(trustedProxies: trustedProxies.count)
        self.logger = logger
        expectsNoProxy = Atomic(trustedProxies.origin == .unset)
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
