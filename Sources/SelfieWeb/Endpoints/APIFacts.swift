package import SelfieCore

/// What the API's description tells of an installation.
package struct APIFacts: Sendable {
    let version: String
    let maxUploadBytes: Int
    let rateLimits: RateLimits?

    /// - Parameters:
    ///   - version: The service's version.
    ///   - maxUploadBytes: The largest photo, in bytes.
    ///   - rateLimits: The rate limits; nil for none.
    package init(version: String, maxUploadBytes: Int, rateLimits: RateLimits?) {
        self.version = version
        self.maxUploadBytes = maxUploadBytes
        self.rateLimits = rateLimits
    }
}
