import CLibCurl
import FoundationEssentials
package import NIOCore

/// Decides whether a connection to an address may be made.
package typealias AddressGuard = @Sendable (SocketAddress) -> Bool

/// How a client makes its connections.
package struct CurlConfiguration: Sendable {
    /// The versions of HTTP that a client may speak.
    package enum Version: Sendable {
        /// For all that streams.
        case http1
        /// HTTP/2 over TLS, and HTTP/1.1 with peers that do not speak it.
        ///
        /// It is for small requests and answers only: libcurl has lost bytes of paused streams (decision 31).
        case http2

        var option: Int {
            switch self {
            case .http1: Int(CURL_HTTP_VERSION_1_1)
            case .http2: Int(CURL_HTTP_VERSION_2TLS)
            }
        }
    }

    package var version = Version.http1
    /// How many connections a host may have; others wait, first come, first served.
    package var maxConnectionsPerHost = 1_024
    /// How many requests share a connection with HTTP/2.
    package var maxRequestsPerConnection = 100
    /// For how long an unused connection is used again, in whole seconds, at least 2.
    package var idle: Duration = .seconds(3)
    /// For how long a connection is used at all; nil for no limit, or for an hour with HTTP/2.
    package var life: Duration?
    package var proxies: ProxySettings
    /// Checks the address of each connection before it is made; nil for any address.
    ///
    /// With a proxy, that is the proxy's address. It is called on the thread that does all transfers, and must not block.
    package var isAllowed: AddressGuard?
    /// The certificates that are trusted.
    package var trust: TrustSource

    /// HTTP/1.1, with the proxies and the trusted certificates that the environment names.
    ///
    /// Change single values after making this.
    ///
    /// - Parameter environment: The process's, or another.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        proxies = ProxySettings(environment)
        trust = TrustSource(environment)
    }

    /// How many requests to a host may be under way.
    var maxRequestsPerHost: Int {
        version == .http2 ? maxConnectionsPerHost * maxRequestsPerConnection : maxConnectionsPerHost
    }

    /// libcurl counts whole seconds, and uses a connection again until more than this are over.
    var maxIdleSeconds: Int { max(1, Int(idle.components.seconds) - 1) }

    var maxLifeSeconds: Int? {
        (life ?? (version == .http2 ? .seconds(3_600) : nil)).map { max(1, Int($0.components.seconds)) }
    }
}
