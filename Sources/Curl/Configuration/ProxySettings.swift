/// The proxies of the environment.
///
/// Source: curl(1), "ENVIRONMENT".
package struct ProxySettings: Sendable, Hashable {
    /// For `http` URLs.
    private let http: String?
    /// For `https` URLs.
    private let https: String?
    /// Hosts that are reached without a proxy, with commas between them.
    let exceptions: String?

    /// No proxy for anything.
    package static let none = ProxySettings([:])

    /// - Parameter environment: Such as `ProcessInfo`'s. `http_proxy` counts in lower case only: a web server's `Proxy`
    ///   header sets the other (CVE-2016-5385).
    package init(_ environment: [String: String]) {
        func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        http = value("http_proxy", "all_proxy", "ALL_PROXY")
        https = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = value("no_proxy", "NO_PROXY")
    }

    /// The proxy for a URL; nil for none.
    ///
    /// The machine itself, the addresses that cloud machines ask for keys, and mail servers are always reached without one.
    func proxy(for url: String) -> String? {
        let url = url.lowercased()
        guard url.hasPrefix("http") else { return nil }
        if Self.directPrefixes.contains(where: url.hasPrefix) || isException(url) { return nil }
        return url.hasPrefix("https:") ? https : http
    }

    /// Whether the exceptions name a URL's host, or a domain that it belongs to.
    ///
    /// libcurl gets them, too: since 7.86, it also knows networks such as `10.0.0.0/8`.
    private func isException(_ url: String) -> Bool {
        guard let exceptions else { return false }
        let authority = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        let host =
            authority.hasPrefix("[") ? authority.prefix { $0 != "]" }.dropFirst() : authority.prefix { $0 != ":" }
        return exceptions.lowercased().split(separator: ",").contains { exception in
            let name = exception.drop { $0 == " " || $0 == "." }.prefix { $0 != " " }
            return name == "*" || !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
        }
    }

    /// Loopback (RFC 1122, section 3.2.1.3), link-local IPv4 (RFC 3927), and AWS's address on IPv6.
    private static let directPrefixes = ["http://", "https://"].flatMap { scheme in
        ["127.", "localhost:", "localhost/", "[::1]", "169.254.", "[fd00:ec2::"].map { scheme + $0 }
    }
}
