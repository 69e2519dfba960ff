package import Concurrency
package import Deliveries
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
    package let requestCode: RequestCode
    package let recoverPassword: RecoverPassword
    package let setFirstPassword: SetFirstPassword
    package let requestEmailChange: RequestEmailChange
    package let confirmEmail: ConfirmEmail
    package let clearTokens: ClearTokens
    package let findSession: FindSession
    package let sessions: SessionStore
    /// Write it every few seconds where standbys are read.
    package let heartbeat: ReplicationHeartbeat
    package let members: MemberStore
    package let blocks: BlockStore
    package let changeProfile: ChangeProfile
    package let blockMember: BlockMember
    package let admitExport: AdmitExport
    /// Counts what photos and records limit, too.
    package let limiter: RateLimiter
    package let passwordCheck: PasswordCheck
    package let codeCheck: CodeCheck
    /// Nil where no mail is sent.
    package let mailChannel: MailChannel?
    /// Nil where no mail is sent.
    package let notices: Notices?
    /// Write it every few seconds, and at the end.
    package let sessionUses: SessionUseRecorder
    /// Write it every few seconds, and at the end.
    package let undecryptablePasswords: UndecryptablePasswordRecorder

    /// - Parameters:
    ///   - postgres: The database.
    ///   - hasher: Hashes passwords.
    ///   - secret: Hashes the names in the keys of limits, makes codes, and seals addresses.
    ///   - tokenLifetimeHours: How long a token lives.
    ///   - rememberedLifetimeDays: After how many days without use a remembered session ends.
    ///   - needsPasswordForToken: Whether `get_token` requires the password.
    ///   - rateLimits: The rate limits; nil for none.
    ///   - codeLimits: Those of an account's codes.
    ///   - mail: How mails are sent; nil for none.
    ///   - needsProvenEmail: Whether a sign-in needs an address that is proven.
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
        codeLimits: RateLimits,
        mail: AccountMail?,
        needsProvenEmail: Bool,
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
        let mailAndNotices = mail.map { ($0, Notices(secret: secret, includesSignIns: $0.tellsOfSignIns)) }
        let notices = mailAndNotices?.1
        self.notices = notices
        let codes = CodeStore(postgres: postgres, keys: CodeKeys(secret: secret))
        let emails = EmailStore(postgres: postgres)
        users = UserStore(postgres: postgres, notifier: notifier, notices: notices)
        members = MemberStore(postgres: postgres)
        blocks = BlockStore(postgres: postgres)
        limiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: rateLimits,
            secret: secret,
            clock: clock
        )
        let accountLimiter = RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: audit,
            limits: codeLimits,
            secret: secret,
            clock: clock
        )
        changeProfile = ChangeProfile(members: members, limiter: limiter)
        blockMember = BlockMember(blocks: blocks, limiter: limiter)
        admitExport = AdmitExport(limiter: limiter, audit: audit)
        passwordCheck = PasswordCheck(limiter: limiter, hasher: hasher, audit: audit)
        codeCheck = CodeCheck(codes: codes, limiter: limiter, accountLimiter: accountLimiter, audit: audit)
        var sessions = SessionStore(postgres: postgres, notifier: notifier)
        sessions.notices = notices
        self.sessions = sessions
        heartbeat = ReplicationHeartbeat(postgres: postgres, logger: logger)
        sessionUses = SessionUseRecorder(sessions: sessions, logger: logger)
        undecryptablePasswords = UndecryptablePasswordRecorder(
            store: UndecryptablePasswordStore(postgres: postgres),
            logger: logger
        )
        signUp = SignUp(
            users: users,
            codes: codes,
            limiter: limiter,
            accountLimiter: accountLimiter,
            hasher: hasher
        )
        signIn = SignIn(
            users: users,
            sessions: sessions,
            audit: audit,
            check: passwordCheck,
            codeCheck: codeCheck,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now,
            needsProvenEmail: needsProvenEmail
        )
        getToken = GetToken(signIn: signIn, limiter: limiter, needsPassword: needsPasswordForToken)
        resetPassword = ResetPassword(
            users: users,
            check: passwordCheck,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now
        )
        let find = FindAccount(users: users, emails: emails)
        requestCode = RequestCode(
            find: find,
            codes: codes,
            limiter: limiter,
            accountLimiter: accountLimiter,
            notifier: notifier
        )
        recoverPassword = RecoverPassword(
            find: find,
            users: users,
            check: codeCheck,
            hasher: hasher,
            lifetimes: lifetimes,
            now: now
        )
        setFirstPassword = SetFirstPassword(users: users, check: codeCheck, hasher: hasher)
        requestEmailChange = RequestEmailChange(
            users: users,
            codes: codes,
            passwordCheck: passwordCheck,
            codeCheck: codeCheck,
            accountLimiter: accountLimiter
        )
        confirmEmail = ConfirmEmail(users: users, check: codeCheck)
        mailChannel = mailAndNotices.map { mail, notices in
            MailChannel(
                composer: MailComposer(
                    postgres: postgres,
                    keys: codes.keys,
                    notices: notices,
                    limiter: accountLimiter,
                    identity: mail.identity,
                    templates: mail.templates,
                    changeNotice: mail.changeNotice,
                    now: now
                ),
                emails: emails,
                audit: audit,
                route: mail.route
            )
        }
        clearTokens = ClearTokens(users: users, sessions: sessions)
        findSession = FindSession(sessions: sessions, limiter: limiter, uses: sessionUses)
    }
}

/// How a service sends mails to users.
package struct AccountMail: Sendable {
    package let identity: MailIdentity
    package let templates: MailTemplates
    package let route: MailRoute
    /// Whether users are told of sign-ins from new places.
    package let tellsOfSignIns: Bool
    /// Composes mails of subscriptions; nil when they are pointless.
    package var changeNotice: @Sendable (Delivery) async throws -> ChangeNotice? = { _ in nil }

    package init(identity: MailIdentity, templates: MailTemplates, route: MailRoute, tellsOfSignIns: Bool) {
        (self.identity, self.templates) = (identity, templates)
        (self.route, self.tellsOfSignIns) = (route, tellsOfSignIns)
    }
}
