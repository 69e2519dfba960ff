import Algorithms
import FoundationEssentials
import OrderedCollections
import Postgres
import RecordSchema
import SelfieAccounts
import SelfiePhotos

/// Reads changes from the grants.
package struct ChangeStore: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache

    var records: RecordStore { RecordStore(postgres: postgres) }

    /// Reads the next changes of all of a reader's streams.
    ///
    /// - Throws: `ChangeReset`, `SessionError.ended` when the session has ended or the account is disabled,
    ///   `RecordRefusal` for a collection that is not there, `PostgresError`.
    func read(_ query: ChangeQuery, from start: ChangeQuery.Start, by reader: ChangeReader) async throws -> ChangeBatch
    {
        if start == .unreadable { throw ChangeReset.database }
        return try await schemas.withSchema { schema in
            for name in query.collections ?? [] where name != Schema.photosName { _ = try schema.collection(name) }
            let rows = try await rows(
                of: ChangeStatement(query, from: start, by: reader, schema: schema).text,
                schema
            )
            let sessionExpiry: Date? = try rows[0].decodeIfPresent("session_expires_at")
            if reader.sessionID != nil, sessionExpiry == nil { throw SessionError.ended }
            let check = try ChangeCursor.Check(rows[0])
            try start.cursor?.require(check, filter: query.filter)
            var begin = ChangeCursor(epoch: check.epoch, filter: query.filter)
            for (stream, found) in check.streams {
                begin.takePosition(in: stream, of: start.cursor)
                if start == .now { begin.move(stream, to: found.end.number, end: found.end) }
            }
            var end = begin
            for (stream, found) in check.streams { end.move(stream, to: found.reached, end: found.end) }
            return ChangeBatch(
                changes: try rows.compactMap { try Change($0, since: begin, schema: schema)?.seen(from: begin) },
                from: begin,
                to: end,
                hasMore: check.streams.values.contains { $0.reached < $0.end.number },
                access: ChangeBatch.Access(
                    roleStreams: Set(try rows[0].decode("role_streams", as: [Int].self)),
                    sessionExpiry: sessionExpiry,
                    schema: schema
                )
            )
        }
    }

    /// Compares streams and readers with the database, and reads the next changes of the streams that have changed, all
    /// in one snapshot.
    ///
    /// - Throws: `PostgresError`, `InvalidSchema`.
    func compare(_ work: FollowedStreams.Work) async throws -> ChangeComparison {
        try await schemas.withSchema { schema in
            let known = work.readers.map { ($0, position: $0.position) }
            let statement = ComparisonStatement(
                streams: work.streams,
                read: Set(work.changed.keys),
                readers: known.map { listener, position in
                    let roleStreams = position?.access.roleStreams ?? []
                    return (listener.reader, work.rolesCompared.contains(listener) ? roleStreams : nil)
                },
                schema: schema
            )
            let rows = try await rows(of: statement.text, schema)
            let epoch = try ChangeEpoch(rows[0])
            let changed = Set(try rows[0].decode("changed_readers", as: [Int].self))
            let outdated = known.indices.filter { index in
                changed.contains(index) || known[index].position.map { $0.end.epoch != epoch } ?? false
            }
            let streams = try rows.compactMap { row in
                try row.decodeIfPresent("asked_id", as: Int.self).map { ($0, try row.stream($0, of: work)) }
            }
            return ChangeComparison(
                epoch: epoch,
                // Each row reaches further in its stream than the row before.
                streams: Dictionary(streams) { $1 },
                changes: try rows.compactMap { try Change($0, since: nil, schema: schema) }.grouped(
                    by: \.position.stream
                ),
                outdatedReaders: Set(outdated.map { known[$0].0 })
            )
        }
    }

    private func rows(of statement: PostgresQuery, _ schema: AppliedSchema) async throws -> PostgresRows {
        let rows = try await postgres.read(statement)
        guard try rows[0].decode("schema_version") == schema.version else { throw SchemaChanged() }
        return rows
    }
}

extension ChangeBatch.Access {
    fileprivate init(roleStreams: Set<Int>, sessionExpiry: Date?, schema: AppliedSchema) {
        let doubled = schema.readTwice.filter { roleStreams.isSuperset(of: [$0.stream, $0.otherStream]) }
        self.init(
            roleStreams: roleStreams,
            shownElsewhere: doubled.grouped(by: \.stream).mapValues { Set($0.map(\.collection.name)) },
            sessionExpiry: sessionExpiry
        )
    }
}

extension ChangeCursor.Check {
    /// Reads the first row of ``ChangeStatement``.
    fileprivate init(_ row: PostgresRow) throws {
        func numbers(_ name: String) throws -> [Int] { try row.decode(name) }
        let (last, starts) = (try numbers("last_numbers"), try numbers("starts"))
        let (forgotten, reached) = (try numbers("forgotten_numbers"), try numbers("reached_numbers"))
        let lost = Set(try numbers("lost_streams"))
        let streams = try numbers("stream_ids").enumerated().map { index, stream in
            let end = StreamEnd(number: last[index], postgresStart: starts[index])
            let isLost = lost.contains(stream)
            return (stream, Stream(end: end, isLost: isLost, forgotten: forgotten[index], reached: reached[index]))
        }
        self.init(epoch: try ChangeEpoch(row), streams: Dictionary(uniqueKeysWithValues: streams))
    }
}

extension PostgresRow {
    /// The state of a stream, in a row of ``ComparisonStatement``.
    fileprivate func stream(_ id: Int, of work: FollowedStreams.Work) throws -> ChangeCursor.Check.Stream {
        let end = StreamEnd(number: try decode("last"), postgresStart: try decode("started"))
        // Without a change, nothing is left up to the end, if the stream was read.
        let reached = work.changed[id] == nil ? work.streams[id]?.number : try decodeIfPresent("seq")
        return ChangeCursor.Check.Stream(
            end: end,
            isLost: try decode("is_lost"),
            forgotten: try decode("forgotten_seq"),
            reached: reached ?? end.number
        )
    }
}

extension Change {
    /// Reads a row of ``ChangeStatement`` or ``ComparisonStatement``.
    ///
    /// It is nil for a row without a change. It is also nil where another stream of the reader's shows the record, and
    /// where the record has just expired. The same holds where the record has ended and the reader never had it.
    ///
    /// `since` is nil for a reading that readers at different positions share.
    ///
    /// - Throws: `SchemaChanged`, `PostgresError`.
    init?(_ row: PostgresRow, since: ChangeCursor?, schema: AppliedSchema) throws {
        guard let number: Int = try row.decodeIfPresent("seq") else { return nil }
        let stream: Int = try row.decode("stream_id")
        let collectionID: Int = try row.decode("change_collection_id")
        let isShown: Bool = try row.decode("is_shown")
        if !isShown, let since {
            if try row.decode("is_shown_elsewhere") { return nil }
            // The reader may have received the record from another stream.
            if number <= since.begun(in: stream), try !row.decode("was_seen_elsewhere") { return nil }
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
            position: (stream, number),
            shownNumber: try row.decodeIfPresent("shown_seq"),
            isDeleted: try row.decodeIfPresent("is_deleted") ?? !isShown
        )
    }
}
