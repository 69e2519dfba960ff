import AESCrypt
package import Budgets
package import FoundationEssentials
package import Logging
package import ObjectStore
package import SelfieCore
package import Traces

/// What the endpoints share.
package struct WebParts: Sendable {
    let useCases: UseCases
    let objects: any ObjectStore
    let sources: RequestSourceReader
    let settings: Settings
    let spoolBudget: SpoolBudget
    /// One for all groups, so that a list makes room for any other.
    let keptLists: KeptLists
    /// The lists that are made while their clients read; the holders are users.
    let listStreams: Places<Int>
    let downloads: DownloadPlaces
    /// The requests of a session that are under way.
    ///
    /// Without a limit, one user could fill the line for the database.
    let sessionRequests = Places<Int>(
        .init("REQUESTS_AT_ONCE", per: "SESSION"),
        limits: .init(total: .max, perHolder: 40)
    )
    /// The lists of a user that are being made from rows.
    let listRequests = Places<Int>(.init("LISTS_AT_ONCE", per: "USER"), limits: .init(total: .max, perHolder: 32))
    /// The lists of records with several conditions that are read; the holders are users.
    let searches: Places<Int>
    /// The memory of answers about records and members.
    let answers: AnswerMemory.Budget
    /// The memory of bodies with records; the holders are users.
    let recordBodyBudget: ByteBudget<Int>
    /// The clients that wait for changes; the holders are users.
    let streams: Places<Int>
    let photoURLs: PhotoURLSigner
    let readiness: Readiness
    let metrics: RequestMetrics
    let changeMetrics: ChangeMetrics
    let tracer: SpanTracer
    let now: @Sendable () -> Date
    /// The descriptions of all calls that are open.
    var endpoints: [Endpoint] = []

    /// How many clients of a user may wait for changes at once.
    private static let maxStreamsPerUser = 10

    var cipher: AESCrypt { AESCrypt(passphrase: settings.apiCredential.password) }
    var origin: PublicOrigin { PublicOrigin(configured: settings.publicURL) }

    /// The settings of the web.
    package struct Settings: Sendable {
        let apiCredential: APICredential
        let trustedProxies: Int?
        let publicURL: String?
        let maxUploadBytes: Int
        let redirectsToBucket: Bool
        let secretKeyBase: String
        let corsOrigins: Set<String>
        let hasPublicDocs: Bool
        let hasGallery: Bool
        let hasDirectory: Bool
        let facts: APIFacts

        /// - Parameters:
        ///   - apiCredential: The credential that clients send by HTTP Basic.
        ///   - trustedProxies: The number of trusted proxies that a request passes; nil when it is not set.
        ///   - publicURL: The origin of photos' URLs, without a slash at its end. Nil for each request's own origin.
        ///   - maxUploadBytes: The largest photo, in bytes.
        ///   - redirectsToBucket: Whether clients get photos' bytes from the bucket, and not through the service.
        ///   - secretKeyBase: Signs photos' URLs.
        ///   - corsOrigins: The origins whose pages may call the API.
        ///   - hasPublicDocs: Whether anybody may read the API's description.
        ///   - hasGallery: Whether browsers get a gallery.
        ///   - hasDirectory: Whether members may list all members.
        ///   - facts: What that tells of the installation.
        package init(
            apiCredential: APICredential,
            trustedProxies: Int?,
            publicURL: String?,
            maxUploadBytes: Int,
            redirectsToBucket: Bool,
            secretKeyBase: String,
            corsOrigins: Set<String>,
            hasPublicDocs: Bool,
            hasGallery: Bool,
            hasDirectory: Bool,
            facts: APIFacts
        ) {
            self.apiCredential = apiCredential
            self.trustedProxies = trustedProxies
            self.publicURL = publicURL
            self.maxUploadBytes = maxUploadBytes
            self.redirectsToBucket = redirectsToBucket
            self.secretKeyBase = secretKeyBase
            self.corsOrigins = corsOrigins
            self.hasPublicDocs = hasPublicDocs
            self.hasGallery = hasGallery
            self.hasDirectory = hasDirectory
            self.facts = facts
        }
    }

    /// - Parameters:
    ///   - useCases: The use cases.
    ///   - objects: The store of photos' bytes.
    ///   - settings: The settings.
    ///   - spoolBudget: The memory and the disk that uploads share.
    ///   - listBudget: The memory that lists share.
    ///   - recordBodyBudget: The memory that bodies with records share.
    ///   - searches: The lists of records with several conditions that are read.
    ///   - downloadLimits: How many photos are sent at once, and how many to one address.
    ///   - maxStreams: How many clients may wait for changes at once.
    ///   - readiness: Whether the service can do its work.
    ///   - metrics: Counts requests and refusals.
    ///   - tracer: Takes traces over and passes them on.
    ///   - now: The time for tokens and URLs.
    ///   - logger: Gets a warning about requests that seem to come through a proxy that is not set.
    package init(
        useCases: UseCases,
        objects: any ObjectStore,
        settings: Settings,
        spoolBudget: SpoolBudget,
        listBudget: ListBudget,
        recordBodyBudget: ByteBudget<Int>,
        searches: Places<Int>,
        downloadLimits: Places<String>.Limits,
        maxStreams: Int,
        readiness: Readiness,
        metrics: RequestMetrics,
        tracer: SpanTracer,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.useCases = useCases
        self.objects = objects
        self.settings = settings
        self.spoolBudget = spoolBudget
        keptLists = KeptLists(budget: listBudget.kept)
        listStreams = listBudget.streams
        answers = AnswerMemory.Budget(listBudget.answers, minTime: listBudget.minTimeOfAnswers)
        self.recordBodyBudget = recordBodyBudget
        self.searches = searches
        downloads = DownloadPlaces(limits: downloadLimits)
        streams = Places(
            .init("STREAMS_AT_ONCE", per: "USER"),
            limits: .init(total: maxStreams, perHolder: Self.maxStreamsPerUser)
        )
        self.readiness = readiness
        self.metrics = metrics
        changeMetrics = ChangeMetrics(factory: metrics.factory)
        self.tracer = tracer
        self.now = now
        photoURLs = PhotoURLSigner(secret: settings.secretKeyBase)
        sources = RequestSourceReader(trustedProxies: settings.trustedProxies, logger: logger)
    }
}

extension Places where Holder == Int {
    /// Makes the places of lists of records with several conditions; the holders are users.
    ///
    /// Each may look at thousands of rows for nothing.
    package static func ofSearches() -> Places {
        Places(.init("SEARCHES_AT_ONCE", per: "USER"), limits: .init(total: 16, perHolder: 4))
    }
}
