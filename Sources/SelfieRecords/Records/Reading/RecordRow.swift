import Postgres
import RecordSchema

/// A record as a statement returns it.
struct RecordRow {
    let key: Int
    let record: StoredRecord
    /// Its position in lists, as ``RecordQuery/Position`` reads it.
    let position: String

    /// The columns of a record, of the tables of ``joins``.
    static let columns: PostgresQuery = """
        records.key, records.id AS id, records.collection_id::bigint AS collection_id, data::text AS data,
        \(part: position) AS position, records.version AS version, owner.member_id AS owner,
        \(part: RecordTransaction.timeText("records.created_at")) AS created_at,
        \(part: RecordTransaction.timeText("records.updated_at")) AS updated_at,
        \(part: RecordTransaction.timeText("expires_at")) AS expires_at,
        pictures.fields AS photo_fields, pictures.elements AS photo_elements, pictures.ids AS photo_ids, pictures.series AS photo_series,
        sharing.readers AS readers, sharing.writers AS writers
        """

    /// The position of a record of `records` in lists.
    static let position: PostgresQuery =
        "records.id || ',' || (extract(epoch FROM records.created_at) * 1000000)::bigint::text"

    /// What a statement joins to `records`, for a reader.
    ///
    /// - Parameters:
    ///   - userID: Selects the reader.
    ///   - sharing: The ids of collections whose owners see the readers.
    ///   - pictured: The ids of collections with photos.
    /// - Returns: Joins.
    private static func joins(userID: PostgresQuery, sharing: PostgresQuery, pictured: PostgresQuery) -> PostgresQuery {
        """
        JOIN users AS owner ON owner.id = records.owner_id
        LEFT JOIN LATERAL (
            SELECT array_agg(field ORDER BY field, element) AS fields, array_agg(element ORDER BY field, element) AS elements,
                array_agg(random_id::text ORDER BY field, element) AS ids,
                array_agg(coalesce(url_series, 0) ORDER BY field, element) AS series
            FROM photo_references JOIN photos ON photos.id = photo_id LEFT JOIN photo_libraries USING (user_id)
            WHERE record_key = records.key
        ) AS pictures ON records.collection_id = ANY(\(part: pictured))
        LEFT JOIN LATERAL (
            SELECT coalesce(array_agg(member_id ORDER BY member_id), ARRAY[]::text[]) AS readers,
                coalesce(array_agg(member_id ORDER BY member_id) FILTER (WHERE rights & 2 > 0), ARRAY[]::text[]) AS writers
            FROM grants JOIN streams ON streams.id = stream_id JOIN users ON users.id = streams.user_id
            WHERE grants.collection_id = records.collection_id AND record_key = records.key AND rights % 2 = 1
                AND users.id <> records.owner_id
        ) AS sharing ON records.owner_id = \(part: userID) AND records.collection_id = ANY(\(part: sharing))
        """
    }

    /// The same for the records of one collection.
    static func joins(_ reader: RecordReader) -> PostgresQuery {
        joins(userID: reader.userID, collections: [reader.collection])
    }

    /// The same for the records of some collections.
    static func joins(userID: Int, collections: [AppliedCollection]) -> PostgresQuery {
        joins(userID: "\(userID)", sharing: "\(sharing(collections))", pictured: "\(pictured(collections))")
    }

    /// The same as text alone, for a statement without parameters.
    static func joins(namedUserID: PostgresQuery, collections: [AppliedCollection]) -> PostgresQuery {
        func text(_ ids: [Int]) -> PostgresQuery {
            PostgresQuery(stringLiteral: "'{\(ids.map(String.init).joined(separator: ","))}'::bigint[]")
        }
        return joins(
            userID: namedUserID,
            sharing: text(sharing(collections)),
            pictured: text(pictured(collections))
        )
    }

    private static func sharing(_ collections: [AppliedCollection]) -> [Int] {
        collections.filter { $0.definition.access == .acl }.map(\.id)
    }

    private static func pictured(_ collections: [AppliedCollection]) -> [Int] {
        collections.filter { !$0.definition.photoFields.isEmpty }.map(\.id)
    }

    /// - Parameters:
    ///   - row: A row with ``columns``, and `value` where the order has an index.
    ///   - order: The order of the list that it is in.
    ///   - schema: The schema, which has the names of collections.
    /// - Throws: `SchemaChanged` for a collection that the schema does not have, `PostgresError`.
    init(_ row: PostgresRow, in order: RecordQuery.Order = .created, schema: AppliedSchema) throws {
        guard let collection = schema.collection(id: try row.decode("collection_id")) else { throw SchemaChanged() }
        let fields: [String] = try row.decodeIfPresent("photo_fields") ?? []
        let elements: [String] = try row.decodeIfPresent("photo_elements") ?? []
        let photos = zip(
            try row.decodeIfPresent("photo_ids", as: [String].self) ?? [],
            try row.decodeIfPresent("photo_series", as: [Int].self) ?? []
        )
        key = try row.decode("key")
        let value: String? = order.index == nil ? nil : try row.decodeIfPresent("value")
        position = RecordQuery.Position.text(try row.decode("position"), in: order, value: value)
        record = StoredRecord(
            id: try row.decode("id"),
            collection: collection.name,
            data: try row.decode("data"),
            owner: try row.decode("owner"),
            readers: try row.decodeIfPresent("readers"),
            writers: try row.decodeIfPresent("writers"),
            version: try row.decode("version"),
            createdAt: try row.decode("created_at"),
            updatedAt: try row.decode("updated_at"),
            expiresAt: try row.decodeIfPresent("expires_at"),
            photos: zip(zip(fields, elements), photos).map { place, photo in
                StoredRecord.PhotoField(
                    field: place.0,
                    isElement: !place.1.isEmpty,
                    randomID: photo.0,
                    urlSeries: photo.1
                )
            }
        )
    }
}
