import FoundationEssentials
import Postgres
import RecordSchema
package import SelfieAccounts
package import SelfiePhotos

/// Reads changes from the grants.
package struct ChangeStore: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache
    private let nextChange = NextChangeLookup()

    var records: RecordStore { RecordStore(postgres: postgres) }

    init(postgres: PostgresClient, schemas: SchemaCache) {
        self.postgres = postgres
        self.schemas = schemas
    }

    /// Reads the next changes of a reader.
    ///
    /// - Parameters:
    ///   - query: Which changes.
    ///   - start: Where the reader is.
    ///   - reader: Who reads.
    /// - Returns: The changes; none when nothing has changed.
    /// - Throws: `ChangeReset`, `SessionError.ended` when the session has ended or the account is disabled,
    ///   `RecordRefusal` for a collection that is not there, `PostgresError`.
    func read(_ query: ChangeQuery, from start: ChangeQuery.Start, by reader: ChangeReader) async throws -> ChangeBatch
    {
        try await schemas.withSchema { schema in
            for name in query.collections ?? [] where name != Schema.photosName { _ = try schema.collection(name) }
            let statement = ChangeStatement(query: query, reader: reader, start: start, schema: schema).text
            var rows = try await postgres.read(statement)
            if try rows[0].decodeIfPresent("mark", as: Int.self) == nil {
                try await DatabaseStarts(postgres: postgres).note()
                rows = try await postgres.read(statement)
            }
            guard try rows[0].decode("schema_version") == schema.version else { throw SchemaChanged() }
            return try batch(rows, query, start, reader, schema)
        }
    }

    /// Looks up the next change of the stream that nobody else reads.
    ///
    /// It costs a fraction of ``read(_:from:by:)`` where many are looked up at the same time.
    ///
    /// - Parameters:
    ///   - cursor: Where the reader is.
    ///   - stream: The stream.
    ///   - reader: Who reads.
    /// - Returns: One change, or none when nothing has changed; nil where only ``read(_:from:by:)`` tells what to do.
    /// - Throws: `PostgresError`.
    func next(after cursor: ChangeCursor, in stream: Int, by reader: ChangeReader) async throws -> ChangeBatch? {
        try await schemas.withSchema { schema in
            let key = NextChangeLookup.key(of: reader, stream: stream, after: cursor)
            let row = try await postgres.lookUp(nextChange.lookup(with: schema), key: key)
            return try row.flatMap { try NextChangeLookup.batch($0, cursor, stream, reader, schema) }
        }
    }

    private func batch(
        _ rows: PostgresRows,
        _ query: ChangeQuery,
        _ start: ChangeQuery.Start,
        _ reader: ChangeReader,
        _ schema: AppliedSchema
    ) throws -> ChangeBatch {
        let sessionExpiry: Date? = try rows[0].decodeIfPresent("session_expires_at")
        if reader.sessionID != nil, sessionExpiry == nil { throw SessionError.ended }
        let check = try ChangeCursor.Check(rows[0])
        if case .after(let cursor) = start { try cursor.check(check, filter: query.filter) }
        let from = start.cursor
        var changes: [Change] = []
        for row in rows where try row.decodeIfPresent("seq", as: Int.self) != nil {
            let change = try Change(row, since: from, isOfAll: reader.userID == nil, schema: schema)
            if let change { changes.append(change) }
        }
        var begin = ChangeCursor(
            mark: check.mark,
            clearedVersion: check.clearedVersion,
            filter: query.filter,
            positions: [:]
        )
        for stream in check.streams {
            if start == .now { begin.move(stream.stream, to: stream.last) } else { begin.take(stream.stream, of: from) }
        }
        var end = begin
        for stream in check.streams { end.move(stream.stream, to: stream.reached, last: stream.last) }
        return ChangeBatch(
            changes: changes,
            start: begin,
            end: end,
            hasMore: check.streams.contains { $0.reached < $0.last },
            ownStream: try rows[0].decode("own_stream_id"),
            schemaVersion: schema.version,
            sessionExpiry: sessionExpiry
        )
    }
}

extension ChangeQuery.Start {
    /// Where the reader is, if it has anything.
    fileprivate var cursor: ChangeCursor {
        if case .after(let cursor) = self { return cursor }
        return ChangeCursor(mark: 0, clearedVersion: 0, filter: 0, positions: [:])
    }
}

extension ChangeCursor.Check {
    /// - Parameter row: A row of ``ChangeStatement``.
    /// - Throws: `PostgresError`.
    fileprivate init(_ row: PostgresRow) throws {
        func numbers(_ name: String) throws -> [Int] { try row.decode(name) }
        let streams = try numbers("stream_ids")
        let (last, common) = (try numbers("last_numbers"), try numbers("last_common_numbers"))
        let (forgotten, reached) = (try numbers("forgotten_numbers"), try numbers("reached_numbers"))
        self.init(
            mark: try row.decode("mark"),
            clearedVersion: try row.decode("cleared_version"),
            isSameDatabase: try row.decode("is_same_database"),
            streams: streams.indices.map { index in
                StreamPosition(
                    stream: streams[index],
                    last: last[index],
                    lastCommon: common[index],
                    forgotten: forgotten[index],
                    reached: reached[index]
                )
            }
        )
    }
}

extension Change {
    /// Reads a row with ``ChangeStatement/columns``, `is_shown_elsewhere` and `was_seen_elsewhere`.
    ///
    /// It is nil in three cases: another stream of the reader's shows the record, it has just expired, or it has ended and the
    /// reader never had it.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - since: Where the reader was.
    ///   - isOfAll: Whether it is read for readers at different places.
    ///   - schema: The schema.
    /// - Throws: `SchemaChanged`, `PostgresError`.
    init?(_ row: PostgresRow, since: ChangeCursor, isOfAll: Bool, schema: AppliedSchema) throws {
        let place: (stream: Int, number: Int) = (try row.decode("stream_id"), try row.decode("seq"))
        let collectionID: Int = try row.decode("change_collection_id")
        let isShown: Bool = try row.decode("is_shown")
        if !isShown {
            if try row.decode("is_shown_elsewhere") { return nil }
            // A reader who never got it of this stream may still have got the record of another one.
            if !isOfAll, place.number <= since.begun(place.stream), try !row.decode("was_seen_elsewhere") { return nil }
        }
        let (collection, id, content): (String, String, Content?)
        if collectionID == 0 {
            let photo = try PhotoRows.Columns(row, createdAt: "uploaded_at")
            if isShown, photo.randomID.isEmpty { return nil }
            (collection, id) = (Schema.photosName, try row.decode("change_random_id"))
            content = isShown ? .photo(photo, urlSeries: try row.decode("url_series")) : nil
        } else {
            guard let name = schema.collection(id: collectionID)?.name else { throw SchemaChanged() }
            guard let recordID: String = try row.decodeIfPresent("change_id") else { return nil }
            if isShown, try row.decodeIfPresent("key", as: Int.self) == nil { return nil }
            (collection, id) = (name, recordID)
            content = isShown ? .record(try RecordRow(row, schema: schema).record) : nil
        }
        self.init(
            collection: collection,
            id: id,
            content: content,
            place: place,
            shownNumber: try row.decodeIfPresent("shown_seq") ?? 0,
            isGone: try row.decodeIfPresent("is_gone") ?? !isShown,
            since: since
        )
    }
}
