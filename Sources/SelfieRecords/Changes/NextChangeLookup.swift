import FoundationEssentials
import Postgres
import RecordSchema
import Synchronization

/// Looks up the next change of a stream that one user reads, for many users in one statement.
final class NextChangeLookup: Sendable {
    private let kept = Mutex<(schemaVersion: Int, lookup: PostgresLookup)?>(nil)

    /// The look-up for a schema.
    func lookup(with schema: AppliedSchema) -> PostgresLookup {
        kept.withLock { kept in
            if let kept, kept.schemaVersion == schema.version { return kept.lookup }
            let lookup = Self.lookup(with: schema)
            kept = (schema.version, lookup)
            return lookup
        }
    }

    /// Who looks, and from where on: user, session, stream and number.
    static func key(of reader: ChangeReader, stream: Int, after cursor: ChangeCursor) -> [UInt8] {
        let numbers = [reader.userID ?? 0, reader.sessionID ?? 0, stream, cursor.positions[stream] ?? 0]
        return Array(numbers.map(String.init).joined(separator: ",").utf8)
    }

    private static func lookup(with schema: AppliedSchema) -> PostgresLookup {
        // What other streams show is not looked up: ``batch(_:_:_:_:_:)`` refuses a row where that counts.
        let columns: PostgresQuery = """
            \(part: SchemaStore.versionColumn) AS schema_version, \(part: SchemaStore.clearedVersionColumn) AS cleared_version,
            \(part: DatabaseStarts.mark) AS mark, \(part: ChangeReader.session("place[2]", of: "place[1]")) AS session_expires_at,
            own.seq AS last, own.forgotten_seq, false AS is_shown_elsewhere, true AS was_seen_elsewhere,
            \(part: ChangeStatement.columns)
            """
        let joins = RecordRow.joins(namedUserID: "place[1]", collections: schema.allCollections)
        let source: PostgresQuery = """
            FROM (SELECT string_to_array(convert_from(asked.key, 'UTF8'), ',')::bigint[] AS place OFFSET 0) AS reader
            JOIN streams AS own ON own.id = place[3]
            LEFT JOIN LATERAL (
                SELECT \(part: ChangeStatement.changeColumns) FROM grants
                WHERE stream_id = place[3] AND seq > place[4] ORDER BY seq LIMIT 1
            ) AS chosen ON true
            \(part: ChangeStatement.contents(joins))
            """
        return PostgresLookup(columns: columns.sql, source: source.sql)
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - row: What was found.
    ///   - cursor: Where the reader is.
    ///   - stream: The stream.
    ///   - reader: Who reads.
    ///   - schema: The schema.
    /// - Returns: One change or none; nil where only the whole statement tells what to do.
    /// - Throws: `PostgresError`, `SchemaChanged`.
    static func batch(
        _ row: PostgresRow,
        _ cursor: ChangeCursor,
        _ stream: Int,
        _ reader: ChangeReader,
        _ schema: AppliedSchema
    ) throws -> ChangeBatch? {
        let position = cursor.positions[stream] ?? 0
        let (last, forgotten): (Int, Int) = (try row.decode("last"), try row.decode("forgotten_seq"))
        let expiry: Date? = try row.decodeIfPresent("session_expires_at")
        // The whole statement reads after a new schema, a start of PostgreSQL, a restore, or the session's end.
        guard try row.decode("schema_version") == schema.version,
            try row.decode("cleared_version") == cursor.clearedVersion,
            try row.decodeIfPresent("mark") == cursor.mark, (forgotten...max(forgotten, last)).contains(position),
            reader.sessionID == nil || expiry != nil
        else { return nil }
        let number: Int? = try row.decodeIfPresent("seq")
        let change = try number.flatMap { _ in
            try Change(row, since: cursor, isOfAll: false, schema: schema)
        }
        // A record that goes on elsewhere may be shown by another stream. A reader in a backlog may never have had it.
        if let change, change.content == nil, !change.isGone || change.place.number <= cursor.begun(stream) {
            return nil
        }
        var end = cursor
        end.move(stream, to: number ?? last, last: last)
        return ChangeBatch(
            changes: change.map { [$0] } ?? [],
            start: cursor,
            end: end,
            hasMore: (number ?? last) < last,
            ownStream: stream,
            schemaVersion: schema.version,
            sessionExpiry: expiry
        )
    }
}
