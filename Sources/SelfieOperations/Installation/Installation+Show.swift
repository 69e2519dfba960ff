package import Postgres
package import SelfiePhotos

extension Installation {
    /// What is known of a photo, and of its small pictures.
    package struct PhotoDescription: Sendable, Encodable {
        package let randomID: String
        package let ownerID: Int
        /// `pending`, `ready` or `unlisted`.
        package let state: String
        package let contentType: String?
        package let byteCount: Int?
        package let width: Int?
        package let height: Int?
        package let objectKey: String
        package let isStripped: Bool
        package let renditions: [PhotoStore.RenditionState]
    }

    /// Describes a photo.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - configuration: The database.
    /// - Returns: The facts.
    /// - Throws: `InstallationError`.
    package static func describe(
        _ randomID: String,
        configuration: PostgresConfiguration
    ) async throws -> PhotoDescription {
        let photo: PhotoDescription?
        do {
            // PostgreSQL's text can't hold NUL, so no photo's id has one.
            photo =
                randomID.utf8.contains(0)
                ? nil
                : try await withDatabase(configuration, maxConnections: 1) { postgres in
                    try await describe(randomID, in: PhotoStore(postgres: postgres))
                }
        } catch {
            throw InstallationError.explanation(of: error)
        }
        guard let photo else { throw InstallationError.noSuchPhoto }
        return photo
    }

    private static func describe(_ randomID: String, in photos: PhotoStore) async throws -> PhotoDescription? {
        let rows = try await photos.postgres.read(
            """
            SELECT user_id::bigint AS user_id, state, content_type, byte_count, width::bigint AS width,
                height::bigint AS height, coalesce(object_key, random_id)::text AS object_key, is_stripped
            FROM photos WHERE random_id = \(randomID)
            """
        )
        guard let row = rows.first else { return nil }
        return PhotoDescription(
            randomID: randomID,
            ownerID: try row.decode("user_id"),
            state: try row.decode("state"),
            contentType: try row.decodeIfPresent("content_type"),
            byteCount: try row.decodeIfPresent("byte_count"),
            width: try row.decodeIfPresent("width"),
            height: try row.decodeIfPresent("height"),
            objectKey: try row.decode("object_key"),
            isStripped: try row.decode("is_stripped"),
            renditions: try await photos.renditions(of: randomID)
        )
    }
}
