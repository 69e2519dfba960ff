package import FoundationEssentials
package import ObjectStore
package import Postgres
import SelfiePhotos

/// Makes a ZIP archive of all that a user has.
package struct ExportAccount: Sendable {
    private let postgres: PostgresClient
    private let objects: any ObjectStore
    private let pauses: [Duration]

    /// The most bytes of a photo in an archive that a client fetches: as many as an upload may ever have.
    package static let maxPhotoBytes = 1 << 30

    /// - Parameters:
    ///   - postgres: The database.
    ///   - objects: The store of photos' bytes.
    ///   - pauses: How long to wait before each further try to fetch a photo.
    package init(postgres: PostgresClient, objects: any ObjectStore, pauses: [Duration] = S3Download.pauses) {
        self.postgres = postgres
        self.objects = objects
        self.pauses = pauses
    }

    /// Begins an archive.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - spools: For temporary files.
    ///   - maxPhotoBytes: The most bytes of a photo. A larger one is named as missing.
    ///   - date: The present.
    ///   - check: Called before each photo and some of the other files. It throws when the export must end.
    /// - Returns: The archive, of which nothing is made yet.
    package func callAsFunction(
        ofUser userID: Int,
        spools: SpoolBudget,
        maxPhotoBytes: Int,
        at date: Date,
        check: @escaping @Sendable () async throws -> Void
    ) -> ExportPieces {
        let photos = PhotoStore(postgres: postgres)
        return ExportPieces(
            data: ExportedData(postgres: postgres, spools: spools, userID: userID),
            photos: ExportedPhotos(
                photos: photos,
                objects: objects,
                spools: spools,
                userID: userID,
                maxBytes: maxPhotoBytes,
                pauses: pauses
            ),
            date: date,
            check: check
        )
    }
}
