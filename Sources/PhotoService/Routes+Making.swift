import AESCrypt
import FoundationEssentials
import Logging
import Postgres

extension Routes {
    /// Makes the stores and use cases, and hands them to the routes.
    ///
    /// - Parameters:
    ///   - configuration: What the service is told from outside.
    ///   - postgres: The database.
    ///   - hasher: Hashes passwords.
    ///   - objects: Where photos' bytes are.
    ///   - spoolMemory: What uploads share.
    ///   - uses: Told of sessions that are used.
    ///   - now: The time.
    ///   - uptime: The time by which refusals are remembered.
    ///   - logger: Where the service reports to.
    init(
        configuration: ServiceConfiguration,
        postgres: PostgresClient,
        hasher: PasswordHasher,
        objects: any ObjectStore,
        spoolMemory: SpoolMemory,
        uses: SessionUseRecorder,
        now: @escaping @Sendable () -> Date,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant,
        logger: Logger
    ) {
        let tokenSeconds = configuration.tokenLifetimeHours * 3600
        let lifetime = TimeInterval(tokenSeconds)
        let users = UserStore(postgres: postgres)
        let sessions = SessionStore(postgres: postgres)
        let photos = PhotoStore(postgres: postgres)
        let audit = AuditStore(postgres: postgres)
        let urls = PhotoURLSigner(secret: configuration.secretKeyBase, lifetimeMin: tokenSeconds)
        let sources = RequestSourceReader(trustedProxies: configuration.trustedProxies, logger: logger)
        let limiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: configuration.rateLimits,
            secret: configuration.secretKeyBase,
            now: uptime
        )
        let guesses = TokenGuesses(limiter: limiter, sources: sources)
        accounts = AccountRoutes(
            signUp: SignUp(users: users, limiter: limiter, hasher: hasher),
            signIn: SignIn(
                users: users,
                sessions: sessions,
                audit: audit,
                limiter: limiter,
                hasher: hasher,
                tokenLifetime: lifetime,
                now: now
            ),
            resetPassword: ResetPassword(
                users: users,
                audit: audit,
                limiter: limiter,
                hasher: hasher,
                tokenLifetime: lifetime,
                now: now
            ),
            deleteAccount: DeleteAccount(users: users, audit: audit, limiter: limiter, hasher: hasher),
            sessions: sessions,
            limiter: limiter,
            sources: sources,
            cipher: AESCrypt(passphrase: configuration.apiCredential.password),
            getsTokenWithoutPassword: configuration.getsTokenWithoutPassword,
            now: now
        )
        self.photos = PhotoRoutes(
            uploadPhoto: UploadPhoto(photos: photos, objects: objects),
            deletePhoto: DeletePhoto(photos: photos, objects: objects),
            photos: photos,
            urls: urls,
            origin: PublicOrigin(configured: configuration.publicURL),
            uploadBytesMax: configuration.uploadBytesMax,
            limiter: limiter,
            guesses: guesses,
            uses: uses,
            sources: sources,
            spoolMemory: spoolMemory,
            now: now
        )
        servePhotos = ServePhotoRoutes(
            photos: photos,
            objects: objects,
            urls: urls,
            delivery: configuration.photoDelivery,
            now: now
        )
        self.sessions = SessionRoutes(sessions: sessions, sources: sources, now: now)
        basic = BasicMiddleware(credential: configuration.apiCredential)
        token = TokenMiddleware(sessions: sessions, guesses: guesses, uses: uses)
    }
}
