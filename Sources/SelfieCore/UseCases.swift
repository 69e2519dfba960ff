package import Budgets
package import FoundationEssentials
package import Logging
package import ObjectStore
package import Postgres

/// Everything that can be done with accounts and photos.
///
/// Read this first.
package struct UseCases: Sendable {
    package let users: UserStore
    package let signUp: SignUp
    package let signIn: SignIn
    package let getToken: GetToken
    package let resetPassword: ResetPassword
    package let deleteAccount: DeleteAccount
    package let members: MemberStore
    package let blocks: BlockStore
    package let clearTokens: ClearTokens
    package let findSession: FindSession
    package let sessions: SessionStore
    package let admitUpload: AdmitUpload
    package let uploadPhoto: UploadPhoto
    package let listPhotos: ListPhotos
    package let deletePhoto: DeletePhoto
    package let describePhoto: DescribePhoto
    package let photos: PhotoStore
    package let schemas: SchemaCache
    package let roles: RoleStore
    package let countRecordWrites: CountRecordWrites
    package let readRecords: ReadRecords
    package let writeRecords: WriteRecords
    package let followChanges: FollowChanges
    package let notifier: ChangeNotifier
    /// Run it every few seconds.
    package let sweeper: PhotoSweeper
    /// Run it every few minutes.
    package let housekeeper: Housekeeper
    /// Write it every few seconds, and at the end.
    package let sessionUses: SessionUseRecorder
    /// Write it every few seconds, and at the end.
    package let undecryptablePasswords: UndecryptablePasswordRecorder

    /// The settings of the use cases.
    package struct Settings: Sendable {
        let secretKeyBase: String
        let tokenLifetimeHours: Int
        let rememberedLifetimeDays: Int
        let needsPasswordForToken: Bool
        let rateLimits: RateLimits?
        let auditRetentionDays: Int
        let photoQuota: PhotoQuota
        let recordsQuotaBytes: Int
        let uploadLimits: Places<Int>.Limits

        /// - Parameters:
        ///   - secretKeyBase: Hashes the names in the keys of limits.
        ///   - tokenLifetimeHours: How long a token lives.
        ///   - rememberedLifetimeDays: After how many days without use a remembered session ends.
        ///   - needsPasswordForToken: Whether `get_token` requires the password.
        ///   - rateLimits: The rate limits; nil for none.
        ///   - auditRetentionDays: How many days events are kept, 30 or more.
        ///   - photoQuota: What a user may have.
        ///   - recordsQuotaBytes: The bytes of data that a user's records may have.
        ///   - uploadLimits: How many uploads of a process, and of a user, are under way at once.
        package init(
            secretKeyBase: String,
            tokenLifetimeHours: Int,
            rememberedLifetimeDays: Int,
            needsPasswordForToken: Bool,
            rateLimits: RateLimits?,
            auditRetentionDays: Int,
            photoQuota: PhotoQuota,
            recordsQuotaBytes: Int,
            uploadLimits: Places<Int>.Limits
        ) {
            self.secretKeyBase = secretKeyBase
            self.tokenLifetimeHours = tokenLifetimeHours
            self.rememberedLifetimeDays = rememberedLifetimeDays
            self.needsPasswordForToken = needsPasswordForToken
            self.rateLimits = rateLimits
            self.auditRetentionDays = auditRetentionDays
            self.photoQuota = photoQuota
            self.recordsQuotaBytes = recordsQuotaBytes
            self.uploadLimits = uploadLimits
        }
    }

    /// The clocks of the use cases.
    package struct Clocks: Sendable {
        let now: @Sendable () -> Date
        let uptime: @Sendable () -> ContinuousClock.Instant
        let storeNow: @Sendable () -> Date

        /// - Parameters:
        ///   - now: The time for tokens.
        ///   - uptime: The clock for remembering refusals.
        ///   - storeNow: The clock of the store's files.
        package init(
            now: @escaping @Sendable () -> Date,
            uptime: @escaping @Sendable () -> ContinuousClock.Instant,
            storeNow: @escaping @Sendable () -> Date
        ) {
            self.now = now
            self.uptime = uptime
            self.storeNow = storeNow
        }
    }

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - hasher: Hashes passwords.
    ///   - settings: The settings.
    ///   - clocks: The clocks.
    ///   - sendsNotifications: Whether other processes are told of changes at once.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        objects: any ObjectStore,
        hasher: PasswordHasher,
        settings: Settings,
        clocks: Clocks,
        sendsNotifications: Bool,
        logger: Logger
    ) {
        let lifetimes = SessionLifetimes(
            usual: .fixed(hours: settings.tokenLifetimeHours),
            remembered: .remembered(maxUnusedDays: settings.rememberedLifetimeDays)
        )
        let notifier = ChangeNotifier(postgres: sendsNotifications ? postgres : nil)
        self.notifier = notifier
        let (users, audit) = (UserStore(postgres: postgres, notifier: notifier), AuditStore(postgres: postgres))
        self.users = users
        members = MemberStore(postgres: postgres)
        blocks = BlockStore(postgres: postgres)
        let limiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: settings.rateLimits,
            secret: settings.secretKeyBase,
            now: clocks.uptime
        )
        let check = PasswordCheck(limiter: limiter, hasher: hasher, audit: audit)
        sessions = SessionStore(postgres: postgres, notifier: notifier)
        sessionUses = SessionUseRecorder(sessions: sessions, logger: logger)
        undecryptablePasswords = UndecryptablePasswordRecorder(
            store: UndecryptablePasswordStore(postgres: postgres),
            logger: logger
        )
        signUp = SignUp(users: users, limiter: limiter, hasher: hasher)
        signIn = SignIn(
            users: users,
            sessions: sessions,
            audit: audit,
            check: check,
            hasher: hasher,
            lifetimes: lifetimes,
            now: clocks.now
        )
        getToken = GetToken(signIn: signIn, limiter: limiter, needsPassword: settings.needsPasswordForToken)
        resetPassword = ResetPassword(
            users: users,
            check: check,
            hasher: hasher,
            lifetimes: lifetimes,
            now: clocks.now
        )
        deleteAccount = DeleteAccount(users: users, check: check)
        clearTokens = ClearTokens(users: users, sessions: sessions)
        let guesses = TokenGuesses(limiter: limiter)
        findSession = FindSession(sessions: sessions, guesses: guesses, uses: sessionUses)

        photos = PhotoStore(postgres: postgres)
        admitUpload = AdmitUpload(
            places: Places(.init("UPLOADS_AT_ONCE", per: "USER"), limits: settings.uploadLimits),
            photos: photos,
            quota: settings.photoQuota,
            limiter: limiter
        )
        uploadPhoto = UploadPhoto(photos: photos, objects: objects, quota: settings.photoQuota, notifier: notifier)
        listPhotos = ListPhotos(photos: photos, guesses: guesses, uses: sessionUses)
        deletePhoto = DeletePhoto(photos: photos, objects: objects, notifier: notifier)
        describePhoto = DescribePhoto(photos: photos, objects: objects)
        roles = RoleStore(postgres: postgres, notifier: notifier)
        countRecordWrites = CountRecordWrites(limiter: limiter)
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
        readRecords = ReadRecords(store: RecordStore(postgres: postgres), schemas: schemas)
        writeRecords = WriteRecords(
            postgres: postgres,
            schemas: schemas,
            limiter: limiter,
            notifier: notifier,
            digests: SentDigests(secret: settings.secretKeyBase),
            quotaBytes: settings.recordsQuotaBytes
        )
        let changes = ChangeStore(postgres: postgres, schemas: schemas)
        followChanges = FollowChanges(
            store: changes,
            hub: ChangeHub(store: changes, now: clocks.now),
            uses: sessionUses,
            now: clocks.now
        )
        let tellLosses = TellPhotoLosses(postgres: postgres, schemas: schemas, notifier: notifier)
        sweeper = PhotoSweeper(
            photos: photos,
            objects: objects,
            now: clocks.storeNow,
            logger: logger,
            tellLosses: { try await tellLosses() }
        )
        housekeeper = Housekeeper(
            postgres: postgres,
            sessionLifetimeHours: max(settings.tokenLifetimeHours, settings.rememberedLifetimeDays * 24),
            auditRetentionDays: settings.auditRetentionDays,
            notifier: notifier,
            logger: logger
        )
    }
}
