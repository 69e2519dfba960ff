package import Budgets
package import Concurrency
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
    package let deletePhoto: DeletePhoto
    package let describePhoto: DescribePhoto
    package let photos: PhotoStore
    package let schemas: SchemaCache
    package let manageRoles: ManageRoles
    package let countRecordWrites: CountRecordWrites
    package let readRecords: ReadRecords
    package let writeRecords: WriteRecords
    package let followChanges: FollowChanges
    package let bell: ChangeBell
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
        let uploadLimits: PermitLimits

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
            uploadLimits: PermitLimits
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

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - hasher: Hashes passwords.
    ///   - settings: The settings.
    ///   - clock: The clock for remembering refusals.
    ///   - now: The time for tokens.
    ///   - ringsBell: Whether other processes are told of changes at once.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        objects: any ObjectStore,
        hasher: PasswordHasher,
        settings: Settings,
        clock: any MonotonicClock,
        now: @escaping @Sendable () -> Date,
        ringsBell: Bool,
        logger: Logger
    ) {
        let lifetimes = SessionLifetimes(
            usual: .fixed(hours: settings.tokenLifetimeHours),
            remembered: .remembered(maxUnusedDays: settings.rememberedLifetimeDays)
        )
        let bell = ChangeBell(postgres: ringsBell ? postgres : nil)
        self.bell = bell
        let (users, audit) = (UserStore(postgres: postgres, bell: bell), AuditStore(postgres: postgres))
        self.users = users
        members = MemberStore(postgres: postgres)
        blocks = BlockStore(postgres: postgres)
        let limiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: settings.rateLimits,
            secret: settings.secretKeyBase,
            clock: clock
        )
        let check = PasswordCheck(limiter: limiter, hasher: hasher, audit: audit)
        sessions = SessionStore(postgres: postgres, bell: bell)
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
            now: now
        )
        getToken = GetToken(signIn: signIn, limiter: limiter, needsPassword: settings.needsPasswordForToken)
        resetPassword = ResetPassword(
            users: users,
            check: check,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now
        )
        deleteAccount = DeleteAccount(
            users: users,
            removeAccount: RemoveAccount(postgres: postgres, bell: bell),
            check: check
        )
        clearTokens = ClearTokens(users: users, sessions: sessions)
        findSession = FindSession(sessions: sessions, limiter: limiter, uses: sessionUses)

        photos = PhotoStore(postgres: postgres)
        admitUpload = AdmitUpload(
            permits: Permits("UPLOADS_AT_ONCE", per: "USER", settings.uploadLimits),
            photos: photos,
            quota: settings.photoQuota,
            limiter: limiter
        )
        uploadPhoto = UploadPhoto(photos: photos, objects: objects, quota: settings.photoQuota, bell: bell)
        deletePhoto = DeletePhoto(photos: photos, objects: objects, bell: bell)
        describePhoto = DescribePhoto(photos: photos, objects: objects)
        countRecordWrites = CountRecordWrites(limiter: limiter)
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
        manageRoles = ManageRoles(
            store: RoleStore(postgres: postgres),
            schemas: schemas,
            limiter: limiter,
            bell: bell
        )
        readRecords = ReadRecords(store: RecordStore(postgres: postgres), schemas: schemas)
        writeRecords = WriteRecords(
            postgres: postgres,
            schemas: schemas,
            limiter: limiter,
            bell: bell,
            digests: SentDigests(secret: settings.secretKeyBase),
            quotaBytes: settings.recordsQuotaBytes
        )
        let changes = ChangeStore(postgres: postgres, schemas: schemas)
        followChanges = FollowChanges(
            store: changes,
            hub: ChangeHub(postgres: postgres, store: changes, now: now),
            uses: sessionUses,
            now: now
        )
        let tellLosses = ReportPhotoLosses(postgres: postgres, schemas: schemas, bell: bell)
        sweeper = PhotoSweeper(
            photos: photos,
            objects: objects,
            logger: logger,
            tellLosses: { try await tellLosses() }
        )
        housekeeper = Housekeeper(
            postgres: postgres,
            sessionLifetimeHours: max(settings.tokenLifetimeHours, settings.rememberedLifetimeDays * 24),
            auditRetentionDays: settings.auditRetentionDays,
            bell: bell,
            logger: logger
        )
    }
}
