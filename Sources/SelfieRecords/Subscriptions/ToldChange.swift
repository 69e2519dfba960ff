package import Postgres
import RecordSchema

/// What a user may be told of a change, by the rights of now.
package struct ToldChange: Sendable {
    /// The collection's name; `photos` for photos.
    package let collection: String
    /// The record's id, or the photo's `random_id`.
    package let id: String
    /// Whether the user can read it.
    package let isReadable: Bool
    /// The record's data as JSON; nil for a photo, for what the user can't read, and where it is not needed.
    package let data: String?
    /// The first name of the record's owner; nil where `data` is nil.
    package let ownerFirstName: String?

    /// The row of a record or a photo, in a stream.
    package struct Row: Sendable, Hashable {
        package let stream: Int
        /// The collection's id; 0 for photos.
        package let collection: Int
        package let key: Int

        package init(stream: Int, collection: Int, key: Int) {
            (self.stream, self.collection, self.key) = (stream, collection, key)
        }
    }

    /// Reads what a user may be told: no more than the feed tells.
    ///
    /// - Parameters:
    ///   - rows: What has changed, and in which streams.
    ///   - userID: The user.
    ///   - withData: Whether records' data and their owners' names are needed.
    ///   - postgres: The database.
    /// - Returns: What the user may be told, by row. It lacks what the user's streams do not show, and is empty when the account
    ///   is disabled.
    /// - Throws: `PostgresError`.
    package static func read(
        _ rows: [Row],
        ofUser userID: Int,
        withData: Bool,
        _ postgres: PostgresClient
    ) async throws -> [Row: ToldChange] {
        let found = try await postgres.read(
            """
            SELECT asked.*, coalesce(collections.name, \(Schema.photosName)) AS name, coalesce(records.id, granted.random_id) AS id,
                coalesce(is_shown AND (asked.collection_id = 0 OR \(part: RecordReader.isThere)), false) AS is_readable,
                CASE WHEN \(withData) AND is_shown AND \(part: RecordReader.isThere) THEN data::text END AS data, owner.first_name
            FROM unnest(
                \(rows.map(\.stream)), \(rows.map(\.collection)), \(rows.map(\.key))
            ) AS asked (stream_id, collection_id, key)
            JOIN users AS reader ON reader.id = \(userID) AND reader.disabled_at IS NULL
            JOIN streams ON streams.id = asked.stream_id AND \(part: isShown("streams", to: "reader.id"))
            CROSS JOIN LATERAL (
                SELECT rights % 2 = 1 AS is_shown, random_id FROM grants
                WHERE grants.collection_id = asked.collection_id AND record_key = asked.key AND stream_id = asked.stream_id
                    AND grants.seq IS NOT NULL LIMIT 1
            ) AS granted
            LEFT JOIN collections ON collections.id = asked.collection_id
            LEFT JOIN records ON asked.collection_id > 0 AND records.key = asked.key
            LEFT JOIN users AS owner ON owner.id = records.owner_id
            WHERE asked.collection_id = 0 OR collections.id IS NOT NULL
            """
        )
        return try found.reduce(into: [:]) { told, row in
            guard let id: String = try row.decodeIfPresent("id") else { return }
            let data: String? = try row.decodeIfPresent("data")
            let key = Row(
                stream: try row.decode("stream_id"),
                collection: try row.decode("collection_id"),
                key: try row.decode("key")
            )
            told[key] = ToldChange(
                collection: try row.decode("name"),
                id: id,
                isReadable: try row.decode("is_readable"),
                data: data,
                ownerFirstName: data == nil ? nil : try row.decodeIfPresent("first_name")
            )
        }
    }

    /// The condition that a stream is one of a user's: the user's own, that of a role, or that of a collection.
    ///
    /// - Parameters:
    ///   - streams: An alias of the table.
    ///   - userID: The column with the user's id.
    /// - Returns: The condition.
    package static func isShown(_ streams: StaticString, to userID: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                (\(streams).user_id = \(userID) OR \(streams).collection_id IS NOT NULL OR EXISTS (
                    SELECT FROM role_members JOIN roles ON roles.id = role_members.role_id
                    WHERE role_members.role_id = \(streams).role_id AND role_members.user_id = \(userID)
                        AND roles.disabled_at IS NULL
                ))
                """
        )
    }
}
