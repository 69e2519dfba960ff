/// How many proxies a request passes, and where the number comes from.
package struct TrustedProxies: Sendable, Equatable, CustomStringConvertible {
    package enum Origin: Sendable {
        case unset
        /// `TRUSTED_PROXIES`.
        case setting
        /// Heroku sets `DYNO` to the dyno's name, and one router is before each dyno (Heroku Dev Center, "Dynos and the
        /// Dyno Manager" and "HTTP Routing").
        case heroku
    }

    package let count: Int
    package let origin: Origin

    init(setting: Int?, isHeroku: Bool) {
        (count, origin) =
            switch setting {
            case let count?: (count, .setting)
            case nil: isHeroku ? (1, .heroku) : (0, .unset)
            }
    }

    /// How a client's address is found, and why so.
    package var description: String {
        "\(address), since \(reason)"
    }

    private var address: String {
        switch count {
        case 0: "a client's address is that of its connection"
        case 1: "a client's address is the last in X-Forwarded-For"
        default: "a client's address is number \(count) from the end of X-Forwarded-For"
        }
    }

    private var reason: String {
        switch origin {
        case .unset: "TRUSTED_PROXIES is not set"
        case .setting: "TRUSTED_PROXIES is \(count)"
        case .heroku: "DYNO is set, as on Heroku, and TRUSTED_PROXIES is not"
        }
    }
}
