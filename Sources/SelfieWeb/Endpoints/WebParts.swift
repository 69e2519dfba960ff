import AESCrypt
package import FoundationEssentials
package import Logging
package import ObjectStore
package import SelfieCore

/// What endpoints are made of.
package struct WebParts: Sendable {
    let useCases: UseCases
    let objects: any ObjectStore
    let sources: RequestSourceReader
    let settings: Settings
    let spoolMemory: SpoolMemory
    let now: @Sendable () -> Date

    var cipher: AESCrypt { AESCrypt(passphrase: settings.apiCredential.password) }
    var origin: PublicOrigin { PublicOrigin(configured: settings.publicURL) }

    /// What the web is told from outside.
    package struct Settings: Sendable {
        let apiCredential: APICredential
        let trustedProxies: Int?
        let publicURL: String?
        let maxUploadBytes: Int
        let photoDelivery: PhotoDelivery

        /// - Parameters:
        ///   - apiCredential: What clients show by HTTP Basic.
        ///   - trustedProxies: How many proxies a request passes that can be believed; nil when nobody said.
        ///   - publicURL: What photos' URLs begin with, without a slash at its end; nil for each request's own origin.
        ///   - maxUploadBytes: The largest photo, in bytes.
        ///   - photoDelivery: How clients get photos' bytes.
        package init(
            apiCredential: APICredential,
            trustedProxies: Int?,
            publicURL: String?,
            maxUploadBytes: Int,
            photoDelivery: PhotoDelivery
        ) {
            self.apiCredential = apiCredential
            self.trustedProxies = trustedProxies
            self.publicURL = publicURL
            self.maxUploadBytes = maxUploadBytes
            self.photoDelivery = photoDelivery
        }
    }

    /// - Parameters:
    ///   - useCases: What can be done.
    ///   - objects: Where photos' bytes are.
    ///   - settings: What is told from outside.
    ///   - spoolMemory: What uploads share.
    ///   - now: The time by which tokens and URLs live.
    ///   - logger: Told of requests that seem to come from a proxy that nobody told of.
    package init(
        useCases: UseCases,
        objects: any ObjectStore,
        settings: Settings,
        spoolMemory: SpoolMemory,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.useCases = useCases
        self.objects = objects
        self.settings = settings
        self.spoolMemory = spoolMemory
        self.now = now
        sources = RequestSourceReader(trustedProxies: settings.trustedProxies, logger: logger)
    }
}
