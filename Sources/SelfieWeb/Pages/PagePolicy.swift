import HTTPTypes

/// The rules for the service's pages in a browser.
///
/// Source: W3C, "Content Security Policy Level 3".
enum PagePolicy {
    /// The headers of a page.
    ///
    /// It runs only the scripts of the service and talks only to the service. No other page may show it in a frame or get
    /// hold of its window.
    ///
    /// - Parameter imageSources: Where photos may come from, beside the service itself.
    /// - Returns: The headers.
    static func headers(imageSources: [String] = []) -> HTTPFields {
        let images = (["'self'", "blob:"] + imageSources).joined(separator: " ")
        let policy = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src \(images)",
            "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
        var headers: HTTPFields = [.contentSecurityPolicy: policy]
        for (name, value) in [
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(self), microphone=(), geolocation=()"),
            ("Referrer-Policy", "no-referrer"), ("X-Robots-Tag", "noindex, nofollow"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }
}
