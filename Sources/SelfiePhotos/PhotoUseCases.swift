package import Budgets
package import Logging
package import ObjectStore
package import Postgres
package import Renderer
package import SelfieAccounts

/// Everything that can be done with photos.
package struct PhotoUseCases: Sendable {
    package let store: PhotoStore
    package let admitUpload: AdmitUpload
    package let uploadPhoto: UploadPhoto
    package let deletePhoto: DeletePhoto
    package let describePhoto: DescribePhoto
    /// Nil when no small pictures are made.
    package let makeRendition: MakeRendition?
    /// Run it every few seconds.
    package let sweeper: PhotoSweeper

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - quota: What a user may have.
    ///   - uploadLimits: How many uploads of a process, and of a user, are under way at once.
    ///   - renderer: Decodes photos; nil for no small pictures.
    ///   - renditionsAtOnce: How many small pictures are made at once.
    ///   - limiter: Counts uploads.
    ///   - notifier: Notifies readers of changes.
    ///   - reportLosses: Reports photos that were lost to those who share records with them.
    ///   - logger: The log of work in the background.
    package init(
        postgres: PostgresClient,
        objects: any ObjectStore,
        quota: PhotoQuota,
        uploadLimits: PermitLimits,
        renderer: RenderProcess?,
        renditionsAtOnce: Int,
        limiter: RateLimiter,
        notifier: ChangeNotifier,
        reportLosses: @escaping @Sendable () async throws -> Void,
        logger: Logger
    ) {
        store = PhotoStore(postgres: postgres)
        admitUpload = AdmitUpload(
            permits: Permits("UPLOADS_AT_ONCE", per: "USER", uploadLimits),
            photos: store,
            quota: quota,
            limiter: limiter
        )
        makeRendition = renderer.map { [store] renderer in
            MakeRendition(photos: store, objects: objects, renderer: renderer, atOnce: renditionsAtOnce, logger: logger)
        }
        uploadPhoto = UploadPhoto(
            photos: store,
            objects: objects,
            quota: quota,
            notifier: notifier,
            makeRendition: makeRendition
        )
        deletePhoto = DeletePhoto(photos: store, objects: objects, notifier: notifier)
        describePhoto = DescribePhoto(photos: store, objects: objects)
        sweeper = PhotoSweeper(photos: store, objects: objects, logger: logger, reportLosses: reportLosses)
    }
}
