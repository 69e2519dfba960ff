package import SelfieAccounts

/// The settings of the web.
package struct WebSettings: Sendable {
    /// The service's version.
    let version: String
    /// The credential that clients send by HTTP Basic.
    let apiCredential: APICredential
    /// Signs photos' URLs.
    let secretKeyBase: String
    /// The number of trusted proxies that a request passes; nil when it is not set.
    package var trustedProxies: Int?
    /// The origin of photos' URLs, without a slash at its end; nil for each request's own origin.
    package var publicURL: String?
    /// The largest photo, in bytes.
    package var maxUploadBytes = 32 << 20
    /// The rate limits, for the API's description; nil for none.
    package var rateLimits: RateLimits?
    /// Whether clients get photos' bytes from the bucket, and not through the service.
    package var redirectsToBucket = false
    /// The origins whose pages may call the API.
    package var corsOrigins: Set<String> = []
    /// Whether anybody may read the API's description.
    package var hasPublicDocs = false
    /// Whether browsers get a gallery.
    package var hasGallery = false
    /// Whether members may list all members.
    package var hasDirectory = false

    package init(version: String, apiCredential: APICredential, secretKeyBase: String) {
        self.version = version
        self.apiCredential = apiCredential
        self.secretKeyBase = secretKeyBase
    }
}
