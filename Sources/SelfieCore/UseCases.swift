package import Concurrency
package import CoreMetrics
package import Deliveries
package import FoundationEssentials
package import Logging
package import ObjectStore
package import Postgres
package import Renderer
package import SelfieAccounts
package import SelfieConfiguration
package import SelfieNotifications
package import SelfiePhotos
package import SelfieRecords

/// Everything that the service can do.
///
/// Read this first.
package struct UseCases: Sendable {
    package let accounts: AccountUseCases
    package let photos: PhotoUseCases
    package let records: RecordUseCases
    package let notifications: NotificationUseCases
    package let deleteAccount: DeleteAccount
    package let exportAccount: ExportAccount
    package let notifier: ChangeNotifier
    /// Sends what goes out.
    package let deliveries: DeliveryWorker
    package let deliveryStore: DeliveryStore
    /// Run it every few minutes.
    package let housekeeper: Housekeeper

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - hasher: Hashes passwords.
    ///   - renderer: Decodes photos for small pictures; nil when there is none.
    ///   - mail: How mails are sent; nil for none.
    ///   - webhooks: Where events go.
    ///   - push: Where pushes go.
    ///   - metrics: Counts what is sent.
    ///   - settings: The settings.
    ///   - clock: The clock for remembering refusals.
    ///   - now: The time for tokens.
    ///   - transferPauses: How long to wait before each further try to fetch a photo for an export.
    ///   - sendsNotifications: Whether other processes are notified of changes at once.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        objects: any ObjectStore,
        hasher: PasswordHasher,
        renderer: RenderProcess?,
        mail: AccountMail?,
        webhooks: WebhookChannel.Route,
        push: PushRoute,
        metrics: any MetricsFactory,
        settings: ServiceConfiguration,
        clock: any MonotonicClock,
        now: @escaping @Sendable () -> Date,
        transferPauses: [Duration],
        sendsNotifications: Bool,
        logger: Logger
    ) {
        let notifier = ChangeNotifier(postgres: sendsNotifications ? postgres : nil)
        self.notifier = notifier
        let sendsContents = settings.push.sendsContents
        var mail = mail
        let changeNotice = ChangeNoticeComposer(postgres: postgres, sendsContents: sendsContents)
        mail?.changeNotice = { try await changeNotice($0) }
        accounts = AccountUseCases(
            postgres: postgres,
            hasher: hasher,
            secret: settings.secretKeyBase,
            tokenLifetimeHours: settings.tokenLifetimeHours,
            rememberedLifetimeDays: settings.rememberedLifetimeDays,
            needsPasswordForToken: !settings.getsTokenWithoutPassword,
            rateLimits: settings.rateLimits,
            codeLimits: settings.codeLimits,
            mail: mail,
            needsProvenEmail: settings.needsVerifiedEmail,
            notifier: notifier,
            clock: clock,
            now: now,
            logger: logger
        )
        let deliveryStore = DeliveryStore(postgres: postgres)
        self.deliveryStore = deliveryStore
        let webhookStore = WebhookStore(postgres: postgres, secret: settings.secretKeyBase)
        let webhookChannel = WebhookChannel(
            store: webhookStore,
            postgres: postgres,
            route: webhooks,
            logger: logger
        )
        let signal = DeliverySignal()
        records = RecordUseCases(
            postgres: postgres,
            quotaBytes: settings.recordsQuotaBytes,
            secret: settings.secretKeyBase,
            accounts: accounts,
            notifier: notifier,
            onDeliveries: { signal.send() },
            now: now
        )
        notifications = NotificationUseCases(
            postgres: postgres,
            secret: settings.secretKeyBase,
            push: push,
            sendsContents: sendsContents,
            sendsMail: mail != nil,
            checkFilter: records.checkFilter,
            limiter: accounts.limiter,
            metrics: metrics,
            logger: logger,
            onAdded: { notifier.notify([.deliveries]) }
        )
        deliveries = DeliveryWorker(
            store: deliveryStore,
            channels: [webhookChannel] + notifications.channels + [accounts.mailChannel].compactMap(\.self),
            metrics: metrics,
            signal: signal,
            logger: logger
        )
        photos = PhotoUseCases(
            postgres: postgres,
            objects: objects,
            quota: settings.photoQuota,
            uploadLimits: settings.uploadLimits,
            renderer: settings.renditionsAtOnce > 0 ? renderer : nil,
            renditionsAtOnce: settings.renditionsAtOnce,
            limiter: accounts.limiter,
            notifier: notifier,
            reportLosses: { [report = records.reportPhotoLosses] in try await report() },
            logger: logger
        )
        let removeAccount = RemoveAccount(postgres: postgres, notifier: notifier, notices: accounts.notices)
        deleteAccount = DeleteAccount(
            users: accounts.users,
            removeAccount: removeAccount,
            check: accounts.passwordCheck,
            codeCheck: accounts.codeCheck
        )
        exportAccount = ExportAccount(postgres: postgres, objects: objects, pauses: transferPauses)
        housekeeper = Housekeeper(
            postgres: postgres,
            sessionLifetimeHours: max(settings.tokenLifetimeHours, settings.rememberedLifetimeDays * 24),
            auditRetentionDays: settings.auditRetentionDays,
            notifier: notifier,
            removeAccount: removeAccount,
            webhooks: webhookStore,
            logger: logger
        )
    }
}
