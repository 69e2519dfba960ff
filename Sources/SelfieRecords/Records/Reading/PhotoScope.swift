import Postgres
package import SelfieAccounts
package import SelfiePhotos

/// Why a reader may open a photo of another user.
package struct PhotoScope: Sendable, Equatable {
    package let shown: Shown
    package let reader: PhotoReader

    /// - Parameters:
    ///   - shown: What shows the photo.
    ///   - reader: The member who sees it.
    package init(_ shown: Shown, to reader: PhotoReader) {
        self.shown = shown
        self.reader = reader
    }

    /// What shows a photo.
    package enum Shown: Sendable, Equatable {
        /// A record, by its collection's name and its id.
        case record(collection: String, id: String)
        /// Its owner, as the profile picture.
        case picture
    }
}

extension PhotoStore {
    /// Whether a photo may be opened in a scope.
    ///
    /// - Parameters:
    ///   - randomID: The photo's id.
    ///   - scope: The scope of its URL.
    /// - Returns: Whether the reader may still read the record, and the record still has the photo. For a picture,
    ///   whether it is still the owner's.
    /// - Throws: `PostgresError`.
    package func isShown(_ randomID: String, for scope: PhotoScope) async throws -> Bool {
        try await !postgres.read(Self.showing(randomID, for: scope)).isEmpty
    }

    /// Selects a row if a photo may be opened.
    ///
    /// It begins with the reader and the record: a photo may be in very many records.
    static func showing(_ randomID: String, for scope: PhotoScope) -> PostgresQuery {
        let reader: PostgresQuery = """
            WITH reader AS MATERIALIZED (
                SELECT users.id FROM users LEFT JOIN photo_libraries ON user_id = users.id
                WHERE member_id = \(scope.reader.memberID) AND disabled_at IS NULL
                    AND coalesce(url_series, 0) = \(scope.reader.urlSeries)
            )
            """
        switch scope.shown {
        case .picture:
            return """
                \(part: reader)
                SELECT FROM photos JOIN users ON users.id = user_id AND picture_id = photos.id
                WHERE random_id = \(randomID) AND disabled_at IS NULL AND EXISTS (SELECT FROM reader)
                """
        case .record(let collection, let id):
            return """
                \(part: reader), record AS MATERIALIZED (
                    SELECT records.key, records.collection_id FROM records
                    WHERE records.collection_id = (SELECT collections.id FROM collections WHERE name = \(collection))
                        AND recipient_id = ANY (ARRAY[0, (SELECT id FROM reader)]) AND records.id = \(id)
                        AND \(part: RecordReader.isThere)
                )
                SELECT FROM record JOIN photo_references ON record_key = record.key
                    AND photo_id = (SELECT photos.id FROM photos WHERE random_id = \(randomID))
                WHERE EXISTS (SELECT FROM reader) AND EXISTS (
                    SELECT FROM grants WHERE grants.collection_id = record.collection_id
                        AND grants.record_key = record.key AND rights % 2 = 1 AND stream_id IN (
                            SELECT id FROM streams WHERE user_id = (SELECT id FROM reader)
                            UNION ALL SELECT id FROM streams WHERE streams.collection_id = record.collection_id
                            UNION ALL SELECT streams.id FROM role_members JOIN roles ON roles.id = role_members.role_id
                                JOIN streams ON streams.role_id = roles.id
                                WHERE role_members.user_id = (SELECT id FROM reader) AND roles.disabled_at IS NULL
                        )
                )
                """
        }
    }
}
