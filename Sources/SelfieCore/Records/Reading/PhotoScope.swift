import Postgres

/// What somebody may open a photo for, who need not own it.
package enum PhotoScope: Sendable, Equatable {
    /// It is in a record that a member reads.
    case record(collection: String, id: String, reader: String)
    /// It is the picture of its owner.
    case picture
}

extension PhotoStore {
    /// Whether a photo may be opened for what a URL was made for.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - scope: What the URL was made for.
    /// - Returns: Whether the record still shows it, and is still there for the reader; whether it is still a picture.
    /// - Throws: `PostgresError`.
    package func isShown(_ randomID: String, for scope: PhotoScope) async throws -> Bool {
        switch scope {
        case .picture:
            return try await !postgres.read(
                """
                SELECT FROM photos JOIN users ON users.id = user_id AND picture_id = photos.id
                WHERE random_id = \(randomID) AND disabled_at IS NULL
                """
            ).isEmpty
        case .record(let collection, let id, let reader):
            return try await !postgres.read(
                """
                SELECT FROM photos JOIN photo_references ON photo_id = photos.id JOIN records ON records.key = record_key
                    JOIN collections ON collections.id = records.collection_id
                    JOIN users AS reader ON reader.member_id = \(reader) AND reader.disabled_at IS NULL
                WHERE random_id = \(randomID) AND collections.name = \(collection) AND records.id = \(id)
                    AND recipient_id IN (0, reader.id) AND \(part: RecordReader.isThere) AND EXISTS (
                        SELECT FROM grants WHERE grants.collection_id = records.collection_id
                            AND grants.record_key = records.key AND rights % 2 = 1 AND stream_id IN (
                                SELECT id FROM streams WHERE user_id = reader.id
                                UNION ALL SELECT id FROM streams WHERE streams.collection_id = records.collection_id
                                UNION ALL SELECT streams.id FROM role_members JOIN roles ON roles.id = role_members.role_id
                                    JOIN streams ON streams.role_id = roles.id
                                    WHERE role_members.user_id = reader.id AND roles.disabled_at IS NULL
                            )
                    )
                """
            ).isEmpty
        }
    }
}
