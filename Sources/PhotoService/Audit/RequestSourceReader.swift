import Hummingbird

/// Tells where requests come from.
struct RequestSourceReader: Sendable {
    let addresses: ClientAddressReader

    /// - Parameter trustedProxies: How many proxies a request passes that can be believed.
    init(trustedProxies: Int) {
        addresses = ClientAddressReader(trustedProxies: trustedProxies)
    }

    /// Where a request comes from.
    func source(of request: Request, context: some ConnectionContext) -> RequestSource {
        RequestSource(
            address: addresses.address(headers: request.headers, socket: context.channel.remoteAddress),
            requestID: context.requestID
        )
    }
}
