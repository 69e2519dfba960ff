package import FoundationEssentials
package import Postgres
package import SelfieAccounts

/// Everything that can be done with records and their changes.
package struct RecordUseCases: Sendable {
    package let schemas: SchemaCache
    package let manageRoles: ManageRoles
    package let readRecords: ReadRecords
    package let writeRecords: WriteRecords
    package let followChanges: FollowChanges
    package let reportPhotoLosses: ReportPhotoLosses
    package let checkFilter: CheckFilter
    package let findAcquaintance: FindAcquaintance

    /// - Parameters:
    ///   - postgres: The database.
    ///   - quotaBytes: The bytes of data that a user's records may have.
    ///   - secret: Makes the digests of sent records.
    ///   - accounts: Counts writes, and the uses of sessions.
    ///   - notifier: Notifies readers of changes.
    ///   - onDeliveries: Called when there may be something to send out.
    ///   - now: The time for the ends of sessions.
    package init(
        postgres: PostgresClient,
        quotaBytes: Int,
        secret: String,
        accounts: AccountUseCases,
        notifier: ChangeNotifier,
        onDeliveries: @escaping @Sendable () -> Void,
        now: @escaping @Sendable () -> Date
    ) {
        schemas = SchemaCache(store: SchemaStore(postgres: postgres))
        manageRoles = ManageRoles(
            store: RoleStore(postgres: postgres),
            schemas: schemas,
            limiter: accounts.limiter,
            notifier: notifier
        )
        checkFilter = CheckFilter(store: RecordStore(postgres: postgres), schemas: schemas)
        findAcquaintance = FindAcquaintance(postgres: postgres, schemas: schemas)
        readRecords = ReadRecords(store: RecordStore(postgres: postgres), schemas: schemas)
        writeRecords = WriteRecords(
            postgres: postgres,
            schemas: schemas,
            limiter: accounts.limiter,
            notifier: notifier,
            digests: SentDigests(secret: secret),
            quotaBytes: quotaBytes
        )
        let changes = ChangeStore(postgres: postgres, schemas: schemas)
        followChanges = FollowChanges(
            store: changes,
            hub: ChangeHub(store: changes, now: now, onDeliveries: onDeliveries),
            uses: accounts.sessionUses,
            now: now
        )
        reportPhotoLosses = ReportPhotoLosses(postgres: postgres, schemas: schemas, notifier: notifier)
    }
}
