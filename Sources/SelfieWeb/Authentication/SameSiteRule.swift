import Encodings
import HTTPTypes

/// Whether a request comes from the service's own pages.
///
/// Browsers send where a request comes from, and no page can change that. Sources: W3C, "Fetch Metadata Request Headers",
/// section 2.3; WHATWG, "Fetch", section 3.1 "`Origin` header".
enum SameSiteRule {
    /// Whether a request is allowed, with the service's own origin as this client reaches it.
    ///
    /// A browser that sends neither header may only read. The cookie is sent for its own site only, and no other page
    /// can read the answer.
    static func allows(_ request: HTTPRequest, origin: String) -> Bool {
        let site = fetchSite.flatMap { request.headerFields[$0] }
        if let site, !site.hasSameBytes(as: "same-origin") { return false }
        if let sent = request.headerFields[.origin] { return isSame(sent, origin, host: request.authority) }
        return site != nil || request.method == .get || request.method == .head
    }

    /// Compares hosts where a proxy that ends TLS does not say so.
    private static func isSame(_ sent: String, _ origin: String, host: String?) -> Bool {
        if sent.hasSameBytes(as: origin) { return true }
        guard let host else { return false }
        // Where TLS is known, a page without it is another site.
        return sent.hasSameBytes(as: "https://\(host)")
            || !origin.hasPrefix("https://") && sent.hasSameBytes(as: "http://\(host)")
    }

    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
}
