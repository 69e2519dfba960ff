import Postgres

/// A photo, as its owner exports it.
package struct OwnPhoto: Sendable {
    /// As a list has it.
    package let columns: PhotoRows.Columns
    package let randomID: String
    package let title: String
    /// Whether it is in its owner's list.
    package let isListed: Bool
    /// In seconds since 1970; nil when it is not known.
    package let createdAt: Int?
    /// Nil for a photo that railsauth stored.
    package let contentType: String?
    /// Nil for a photo that railsauth stored.
    package let byteCount: Int?

    /// Names its object in the store.
    package let objectKey: String
}

/// All photos of a user, for an export.
extension PhotoStore {
    /// Some of a user's photos, unlisted ones too, the oldest first.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - id: The row's id of the last one of the page before; 0 for the first page.
    ///   - count: How many at most.
    /// - Returns: The ids of rows, and the photos' `random_id`.
    /// - Throws: `PostgresError`.
    package func allPhotos(ofUser userID: Int, after id: Int, count: Int) async throws -> [(id: Int, randomID: String)]
    {
        try await postgres.read(
            """
            SELECT id, random_id FROM photos WHERE user_id = \(userID) AND state <> 'pending' AND id > \(id)
            ORDER BY id LIMIT \(count)
            """
        ).map { (try $0.decode("id"), try $0.decode("random_id")) }
    }

    /// A photo as it is now.
    ///
    /// - Parameters:
    ///   - id: The row's id.
    ///   - userID: The id of the user who must own it.
    /// - Returns: nil when it is deleted.
    /// - Throws: `PostgresError`.
    package func ownPhoto(_ id: Int, ofUser userID: Int) async throws -> OwnPhoto? {
        let rows = try await postgres.read(
            """
            SELECT \(part: PhotoRows.columns), state = 'ready' AS is_listed,
                floor(extract(epoch FROM photos.created_at))::bigint AS created_seconds,
                coalesce(object_key, random_id)::text AS object_key
            FROM photos WHERE id = \(id) AND user_id = \(userID) AND state <> 'pending'
            """
        )
        return try rows.first.map { row in
            OwnPhoto(
                columns: try PhotoRows.Columns(row, createdAt: "created_at"),
                randomID: try row.decode("random_id"),
                title: try row.decode("title"),
                isListed: try row.decode("is_listed"),
                createdAt: try row.decodeIfPresent("created_seconds"),
                contentType: try row.decodeIfPresent("content_type"),
                byteCount: try row.decodeIfPresent("byte_count", as: String.self).flatMap { Int($0) },
                objectKey: try row.decode("object_key")
            )
        }
    }
}
