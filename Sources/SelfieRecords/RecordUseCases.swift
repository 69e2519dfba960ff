package import FoundationEssentials
package import Postgres
package import SelfieAccounts

/// Everything that can be done with records and their changes.
package struct RecordUseCases: Sendable {
    package let schemas: SchemaCache
    package let manageRoles: ManageRoles
    package let countRecordWrites: CountRecordWrites
    package let readRecords: ReadRecords
    package let writeRecords: WriteRecords
    package let followChanges: FollowChanges
    package let reportPhotoLosses: ReportPhotoLosses

    /// The settings of records.
    package struct Settings: Sendable {
        let quotaBytes: Int
        let secretKeyBase: String

        /// - Parameters:
        ///   - quotaBytes: The bytes of data that a user's records may have.
        ///   - secretKeyBase: Makes the digests of sent records.
        package init(quotaBytes: Int, secretKeyBase: String) {
            self.quotaBytes = quotaBytes
            self.secretKeyBase = secretKeyBase
        }
    }

    /// - Parameters:
    ///   - postgres: The database.
    ///   - settings: The settings.
    ///   - accounts: Counts writes, and the uses of sessions.
    ///   - notifier: Notifies readers of changes.
    ///   - now: The time for the ends of sessions.
    package init(
        postgres: PostgresClient,
        settings: Settings,
        accounts: AccountUseCases,
        notifier: ChangeNotifier,
        now: @escaping @Sendable () -> Date
    ) {
        countRecordWrites = CountRecordWrites(limiter: accounts.limiter)
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
        manageRoles = ManageRoles(
            store: RoleStore(postgres: postgres),
            schemas: schemas,
            limiter: accounts.limiter,
            notifier: notifier
        )
        readRecords = ReadRecords(store: RecordStore(postgres: postgres), schemas: schemas)
        writeRecords = WriteRecords(
            postgres: postgres,
            schemas: schemas,
            limiter: accounts.limiter,
            notifier: notifier,
            digests: SentDigests(secret: settings.secretKeyBase),
            quotaBytes: settings.quotaBytes
        )
        let changes = ChangeStore(postgres: postgres, schemas: schemas)
        followChanges = FollowChanges(
            store: changes,
            hub: ChangeHub(store: changes, now: now),
            uses: accounts.sessionUses,
            now: now
        )
        reportPhotoLosses = ReportPhotoLosses(postgres: postgres, schemas: schemas, notifier: notifier)
    }
}
