package import Concurrency
package import FoundationEssentials
package import Logging
package import ObjectStore
package import Postgres
package import SelfieAccounts
package import SelfiePhotos
package import SelfieRecords

/// Everything that the service can do.
///
/// Read this first.
package struct UseCases: Sendable {
    package let accounts: AccountUseCases
    package let photos: PhotoUseCases
    package let records: RecordUseCases
    package let deleteAccount: DeleteAccount
    package let notifier: ChangeNotifier
    /// Run it every few minutes.
    package let housekeeper: Housekeeper

    /// The settings of the use cases.
    package struct Settings: Sendable {
        let accounts: AccountUseCases.Settings
        let photos: PhotoUseCases.Settings
        let records: RecordUseCases.Settings
        let auditRetentionDays: Int

        /// - Parameters:
        ///   - accounts: The settings of accounts.
        ///   - photos: The settings of photos.
        ///   - records: The settings of records.
        ///   - auditRetentionDays: After how many days events are deleted, 30 or more.
        package init(
            accounts: AccountUseCases.Settings,
            photos: PhotoUseCases.Settings,
            records: RecordUseCases.Settings,
            auditRetentionDays: Int
        ) {
            self.accounts = accounts
            self.photos = photos
            self.records = records
            self.auditRetentionDays = auditRetentionDays
        }
    }

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - hasher: Hashes passwords.
    ///   - settings: The settings.
    ///   - clock: The clock for remembering refusals.
    ///   - now: The time for tokens.
    ///   - sendsNotifications: Whether other processes are notified of changes at once.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        objects: any ObjectStore,
        hasher: PasswordHasher,
        settings: Settings,
        clock: any MonotonicClock,
        now: @escaping @Sendable () -> Date,
        sendsNotifications: Bool,
        logger: Logger
    ) {
        notifier = ChangeNotifier(postgres: sendsNotifications ? postgres : nil)
        accounts = AccountUseCases(
            postgres: postgres,
            hasher: hasher,
            settings: settings.accounts,
            notifier: notifier,
            clock: clock,
            now: now,
            logger: logger
        )
        records = RecordUseCases(
            postgres: postgres,
            settings: settings.records,
            accounts: accounts,
            notifier: notifier,
            now: now
        )
        photos = PhotoUseCases(
            postgres: postgres,
            objects: objects,
            settings: settings.photos,
            limiter: accounts.limiter,
            notifier: notifier,
            reportLosses: { [report = records.reportPhotoLosses] in try await report() },
            logger: logger
        )
        deleteAccount = DeleteAccount(
            users: accounts.users,
            removeAccount: RemoveAccount(postgres: postgres, notifier: notifier),
            check: accounts.passwordCheck
        )
        housekeeper = Housekeeper(
            postgres: postgres,
            sessionLifetimeHours: max(
                settings.accounts.tokenLifetimeHours,
                settings.accounts.rememberedLifetimeDays * 24
            ),
            auditRetentionDays: settings.auditRetentionDays,
            notifier: notifier,
            logger: logger
        )
    }
}
