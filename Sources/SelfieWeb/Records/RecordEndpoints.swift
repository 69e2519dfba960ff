import Algorithms
import Budgets
import Concurrency
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import RecordSchema
import SelfieAccounts
import SelfieCore
import SelfieRecords

/// Records: JSON objects in the collections that the operator describes.
struct RecordEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = common + inbox

    init(_ parts: WebParts) { self.parts = parts }

    private var readRecords: ReadRecords { parts.useCases.records.readRecords }
    private var bodies: RecordBodies { RecordBodies(memory: parts.permits.recordBodies) }

    // MARK: Reading

    @Sendable
    func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let query = try RecordQuery(request, context: context)
        let count =
            min(query.limit, query.ids?.count ?? query.limit)
            * (1 + query.include.count * FieldType.maxElementCount)
        let memory = try AnswerMemory(RecordBodies.pageBytes(count), of: parts.answers, for: context)
        let location = try location(context)
        let search = query.searches ? try parts.permits.searches.acquire(for: context.session.userID) : nil
        defer { withExtendedLifetime(search) {} }
        let page = try await readRecords.page(query, in: location, by: context.session.userID)
        let writer = RecordWriter(parts, for: request, of: context.session)
        let response = try Response.json(within: memory) { json in
            json.nested("records") { $0.array(page.records) { writer.write($1, to: &$0) } }
            json.nested("included") { $0.array(page.included) { writer.write($1, to: &$0) } }
            json.member("next", page.next)
            if page.isLimited { json.member("limited", true) }
            if let count = page.count {
                json.member("count", count.value)
                json.member("count_limited", count.isLimited)
            }
        }
        return response.revalidated()
    }

    @Sendable
    func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        let location = try location(context)
        let include = try RequestParameters.readQuery(of: request, context: context)
            .list(.include, max: RecordQuery.maxIncludeCount)
        let bytes = RecordBodies.pageBytes(1 + (include?.count ?? 0) * FieldType.maxElementCount)
        let memory = try AnswerMemory(bytes, of: parts.answers, for: context)
        let (record, included) = try await readRecords.record(
            try id(context),
            in: location,
            including: include ?? [],
            by: context.session.userID
        )
        if include != nil {
            return try response(record, including: included, to: request, context, within: memory).revalidated()
        }
        // The URLs of photos change each day.
        if record.photos.isEmpty, Preconditions(tag: record.tag).outcome(request.headers) == .notModified {
            return Response(status: .notModified, headers: [.eTag: record.tag.quoted]).revalidated()
        }
        return try response(record, to: request, context, within: memory).revalidated()
    }

    // MARK: Writing

    @Sendable
    func handleCreate(request: Request, context: SessionRequestContext) async throws -> Response {
        let location = try location(context)
        let elements = try await bodies.read(request, context, takesMany: true)
        return try await offEventLoop {
            let operations = try await elements.map { try RecordOperation(.create, $0, id: nil, condition: .none) }
            let bytes = elements.areMany ? AnswerMemory.bufferBytes(elements.answerBytes) : elements.answerBytes
            let memory = try memory(bytes, context)
            let records = try await parts.writeRecords(
                operations,
                in: location,
                request,
                context,
                areMany: elements.areMany
            )
            guard elements.areMany else { return try response(records[0], to: request, context, within: memory) }
            return try response(records, to: request, context, within: memory)
        }
    }

    @Sendable
    func handlePut(request: Request, context: SessionRequestContext) async throws -> Response {
        try await handleChange(.put, request, context)
    }

    @Sendable
    func handlePatch(request: Request, context: SessionRequestContext) async throws -> Response {
        try await handleChange(.patch, request, context)
    }

    private func handleChange(
        _ action: RecordOperation.Action,
        _ request: Request,
        _ context: SessionRequestContext
    ) async throws -> Response {
        let (location, id) = (try location(context), try id(context))
        let elements = try await bodies.read(request, context, takesMany: false)
        let condition = try RecordOperation.Condition(request.headers)
        return try await offEventLoop {
            let operations = try await elements.map { try RecordOperation(action, $0, id: id, condition: condition) }
            let memory = try memory(RecordBodies.maxRecordAnswerBytes, context)
            let records = try await parts.writeRecords(operations, in: location, request, context, areMany: false)
            return try response(records[0], to: request, context, within: memory)
        }
    }

    @Sendable
    func handlePatchMany(request: Request, context: SessionRequestContext) async throws -> Response {
        let location = try location(context)
        let elements = try await bodies.read(request, context, takesMany: true)
        guard elements.areMany else { throw RecordBodyError("the body", "must be an array").refusal }
        return try await offEventLoop {
            let operations = try await elements.map { try RecordOperation(.patch, $0, id: nil, condition: .none) }
            // It answers with whole records, however little of them was sent.
            let stored = try await readRecords.byteCount(
                of: operations.compactMap(\.id),
                in: location,
                by: context.session.userID
            )
            let most = operations.count * RecordBodies.maxRecordAnswerBytes
            let bytes = AnswerMemory.bufferBytes(min(most, stored + elements.answerBytes))
            let memory = try memory(bytes, context)
            let records = try await parts.writeRecords(operations, in: location, request, context, areMany: true)
            return try response(records, to: request, context, within: memory)
        }
    }

    @Sendable
    func handleDelete(request: Request, context: SessionRequestContext) async throws -> Response {
        let operation = RecordOperation(
            .delete,
            id: try id(context),
            condition: try RecordOperation.Condition(request.headers)
        )
        let location = try location(context)
        _ = try await offEventLoop {
            try await parts.writeRecords([operation], in: location, request, context, areMany: false)
        }
        return Self.deleted(1)
    }

    @Sendable
    func handleDeleteMany(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let ids = try parameters.list(.deletedIDs, max: RecordLimits.maxBatchCount)
        guard let ids else { throw parameters.missing() }
        let operations = ids.map { RecordOperation(.delete, id: $0) }
        let location = try location(context)
        _ = try await offEventLoop {
            try await parts.writeRecords(operations, in: location, request, context, areMany: true)
        }
        return Self.deleted(ids.count)
    }

    // MARK: Parts

    /// The memory of an answer to a change.
    private func memory(_ maxBytes: Int, _ context: SessionRequestContext) throws(TooBusy) -> AnswerMemory {
        try AnswerMemory(maxBytes, of: parts.answers, for: context, tellsOfChange: true)
    }

    private func location(_ context: SessionRequestContext) throws(ServiceError) -> RecordLocation {
        guard let collection = context.segment(.collection), !collection.utf8.contains(0) else {
            throw .collectionNotFound
        }
        guard context.parameters.get(Endpoint.Parameter.memberID.name) != nil else {
            return RecordLocation(collection: collection, inboxOf: nil)
        }
        // Without its name, the inbox would be the caller's own.
        guard let member = context.segment(.memberID) else { throw .memberNotFound }
        return RecordLocation(collection: collection, inboxOf: member)
    }

    private func id(_ context: SessionRequestContext) throws(ServiceError) -> String {
        guard let id = context.segment(.recordID) else { throw .recordIDInvalid }
        return id
    }

    private func response(
        _ record: StoredRecord,
        including included: [StoredRecord]? = nil,
        to request: Request,
        _ context: SessionRequestContext,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        let writer = RecordWriter(parts, for: request, of: context.session)
        var response = try Response.json(within: memory) { json in
            writer.writeMembers(of: record, to: &json)
            if let included {
                json.nested("included") { $0.array(included) { writer.write($1, to: &$0) } }
            }
        }
        response.headers[.eTag] = record.tag.quoted
        return response
    }

    private func response(
        _ records: [StoredRecord],
        to request: Request,
        _ context: SessionRequestContext,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        let writer = RecordWriter(parts, for: request, of: context.session)
        var json = JSONWriter()
        json.array(records) { writer.write($1, to: &$0) }
        return try Response(json, within: memory)
    }

    private static func deleted(_ count: Int) -> Response {
        .json { $0.member("deleted", count) }
    }
}

extension StoredRecord {
    /// Names the version.
    fileprivate var tag: EntityTag { EntityTag("\(version)") }
}

extension RecordOperation.Condition {
    /// The condition of a request's headers (RFC 9110, sections 13.1.1 and 13.1.2).
    ///
    /// A weak tag counts as a strong one: what compresses an answer weakens its tag, and the version is the same. A tag that is
    /// no version matches none.
    ///
    /// - Throws: `ServiceError.ifMatchInvalid` for something that is no tag.
    init(_ headers: HTTPFields) throws(ServiceError) {
        if let list = headers[.ifMatch] {
            var reader = EntityTagReader(list)
            var versions: [Int?] = []
            while let tag = reader.next() {
                switch tag {
                case .any:
                    self = .exists
                    return
                case .one(let quoted, isWeak: _): versions.append(Int(Substring(quoted.dropFirst().dropLast())))
                }
            }
            guard reader.isAtEnd, !versions.isEmpty else { throw .ifMatchInvalid }
            self = .version(Set(versions.compactMap(\.self)))
        } else if headers[.ifNoneMatch]?.hasSameBytes(as: "*") == true {
            self = .absent
        } else {
            self = .none
        }
    }
}
