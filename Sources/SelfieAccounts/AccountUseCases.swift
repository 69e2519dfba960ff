package import Concurrency
package import FoundationEssentials
package import Logging
package import Postgres

/// Everything that can be done with accounts, their sessions and their profiles.
package struct AccountUseCases: Sendable {
    package let users: UserStore
    package let signUp: SignUp
    package let signIn: SignIn
    package let getToken: GetToken
    package let resetPassword: ResetPassword
    package let clearTokens: ClearTokens
    package let findSession: FindSession
    package let sessions: SessionStore
    package let members: MemberStore
    package let blocks: BlockStore
    package let changeProfile: ChangeProfile
    package let blockMember: BlockMember
    package let admitExport: AdmitExport
    /// Counts what photos and records limit, too.
    package let limiter: RateLimiter
    package let passwordCheck: PasswordCheck
    /// Write it every few seconds, and at the end.
    package let sessionUses: SessionUseRecorder
    /// Write it every few seconds, and at the end.
    package let undecryptablePasswords: UndecryptablePasswordRecorder

    /// - Parameters:
    ///   - postgres: The database.
    ///   - hasher: Hashes passwords.
    ///   - secret: Hashes the names in the keys of limits.
    ///   - tokenLifetimeHours: How long a token lives.
    ///   - rememberedLifetimeDays: After how many days without use a remembered session ends.
    ///   - needsPasswordForToken: Whether `get_token` requires the password.
    ///   - rateLimits: The rate limits; nil for none.
    ///   - notifier: Notifies readers of changes.
    ///   - clock: The clock for remembering refusals.
    ///   - now: The time for tokens.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        hasher: PasswordHasher,
        secret: String,
        tokenLifetimeHours: Int,
        rememberedLifetimeDays: Int,
        needsPasswordForToken: Bool,
        rateLimits: RateLimits?,
        notifier: ChangeNotifier,
        clock: any MonotonicClock,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        let lifetimes = SessionLifetimes(
            usual: .fixed(hours: tokenLifetimeHours),
            remembered: .remembered(maxUnusedDays: rememberedLifetimeDays)
        )
        let audit = AuditStore(postgres: postgres)
        users = UserStore(postgres: postgres, notifier: notifier)
        members = MemberStore(postgres: postgres)
        blocks = BlockStore(postgres: postgres)
        limiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: rateLimits,
            secret: secret,
            clock: clock
        )
        changeProfile = ChangeProfile(members: members, limiter: limiter)
        blockMember = BlockMember(blocks: blocks, limiter: limiter)
        admitExport = AdmitExport(limiter: limiter, audit: audit)
        passwordCheck = PasswordCheck(limiter: limiter, hasher: hasher, audit: audit)
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
            check: passwordCheck,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now
        )
        getToken = GetToken(signIn: signIn, limiter: limiter, needsPassword: needsPasswordForToken)
        resetPassword = ResetPassword(
            users: users,
            check: passwordCheck,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now
        )
        clearTokens = ClearTokens(users: users, sessions: sessions)
        findSession = FindSession(sessions: sessions, limiter: limiter, uses: sessionUses)
    }
}
