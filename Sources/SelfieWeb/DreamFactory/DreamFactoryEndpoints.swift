import Budgets
import Concurrency
import HTTPTypes
import Hummingbird
import JSON
import OrderedCollections
import RecordSchema
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfieRecords

/// The routes of DreamFactory 1, for apps that were made for it.
///
/// They do with accounts and records what the API's own calls do.
struct DreamFactoryEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = accounts + many + one

    private static let accounts: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "dreamFactoryRegister",
            .dreamFactory,
            .post,
            "/rest/user/register",
            .public(handleRegister),
            "Create an account",
            details: """
                The password is not encrypted in this call. So it needs TLS, or a client on the same machine. With `login=true`, it \
                also begins a session.
                """,
            limitedBy: [.signUpPerAddress, .signInPerAccount, .codesPerAccount],
            takes: [.login, .applicationName],
            sends: DreamFactoryJSON.registration,
            answers: [.ok("Whether it was done, or the session.", DreamFactoryJSON.successOrSession)],
            refuses: [
                DreamFactoryAccounts.tlsRequired, .jsonNotAnObject, .parametersMissing, .tooManyRequests,
                .tooManyAtOnce,
            ]
                + AccountRequests.signInRefusals.filter { $0 != .tooManyRequests }
        ),
        HandledEndpoint(
            "dreamFactorySignIn",
            .dreamFactory,
            .post,
            "/rest/user/session",
            .public(handleSignIn),
            "Sign in",
            details: """
                The password is not encrypted in this call. So it needs TLS, or a client on the same machine. A `code` from a mail can \
                stand for it.
                """,
            limitedBy: [.signInPerAccount, .signInPerAddress, .passwordTriesPerAccount, .codeTriesPerAccount],
            takes: [.applicationName],
            sends: DreamFactoryJSON.credentials,
            answers: [.ok("The session.", DreamFactoryJSON.session)],
            refuses: [DreamFactoryAccounts.tlsRequired, .jsonNotAnObject, .parametersMissing, .tooManyAtOnce]
                + AccountRequests.signInRefusals
        ),
        HandledEndpoint(
            "dreamFactorySession",
            .dreamFactory,
            .get,
            "/rest/user/session",
            .dreamFactory(handleSession),
            "Read the session",
            answers: [.ok("The session.", DreamFactoryJSON.session)]
        ),
        HandledEndpoint(
            "dreamFactorySignOut",
            .dreamFactory,
            .delete,
            "/rest/user/session",
            .dreamFactory(handleSignOut),
            "Sign out",
            answers: [.ok("It was done.", DreamFactoryJSON.success)]
        ),
    ]

    private static let many: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "dreamFactoryList",
            .dreamFactory,
            .get,
            "/rest/db/:table",
            .dreamFactory(handleList),
            "List the records of a table",
            details: """
                A list ends at about 1 MiB. If more records follow, `meta.next` is the `offset` to go on with. The parameters may \
                also be in a body of JSON.
                """,
            takes: [
                .table, .rowIDs, .rowFilter, .rowOrder, .rowLimit, .rowOffset, .rowFields, .related, .countsRows,
            ] + shared,
            answers: [.ok("The records.", DreamFactoryJSON.list)],
            refuses: list404 + body
        ),
        write(
            "dreamFactoryCreate",
            .post,
            "/rest/db/:table",
            handleCreate,
            "Create one record or many",
            "All are created, or none. Answers with the ids, unless `fields` asks for more.",
            takes: [.table],
            refuses: [.recordIDTaken, .noRoomForRecords, .readerFull] + contents
        ),
        change("dreamFactoryReplaceMany", .put, "/rest/db/:table", takes: [.table, .rowIDs, .rowFilter]),
        change("dreamFactoryChangeMany", .patch, "/rest/db/:table", takes: [.table, .rowIDs, .rowFilter]),
        HandledEndpoint(
            "dreamFactoryDeleteMany",
            .dreamFactory,
            .delete,
            "/rest/db/:table",
            .dreamFactory(handleDelete),
            "Delete many records",
            details: "By `ids`, by `filter`, or by the ids of the records in a body. All are deleted, or none.",
            limitedBy: [.recordWritesPerUser],
            takes: [.table, .rowIDs, .rowFilter, .rowFields] + shared,
            answers: [.ok("The ids, and the fields that were asked for.", DreamFactoryJSON.rows)],
            refuses: one404 + body + [.recordReferredTo, .recordVersionDiffers, .parametersMissing]
        ),
    ]

    private static let one: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "dreamFactoryGet",
            .dreamFactory,
            .get,
            "/rest/db/:table/:id",
            .dreamFactory(handleGet),
            "Read a record",
            takes: [.table, .rowID, .rowFields, .related] + shared,
            answers: [.ok("The record.", DreamFactoryJSON.row)],
            refuses: one404 + body
        ),
        write(
            "dreamFactoryCreateOne",
            .post,
            "/rest/db/:table/:id",
            handleCreate,
            "Create a record with this id",
            "Answers with the id, unless `fields` asks for more.",
            takes: [.table, .rowID],
            refuses: [.recordIDTaken, .noRoomForRecords, .readerFull] + contents
        ),
        change("dreamFactoryReplace", .put, "/rest/db/:table/:id", takes: [.table, .rowID]),
        change("dreamFactoryChange", .patch, "/rest/db/:table/:id", takes: [.table, .rowID]),
        HandledEndpoint(
            "dreamFactoryDelete",
            .dreamFactory,
            .delete,
            "/rest/db/:table/:id",
            .dreamFactory(handleDelete),
            "Delete a record",
            limitedBy: [.recordWritesPerUser],
            takes: [.table, .rowID, .rowFields] + shared,
            answers: [.ok("The id, and the fields that were asked for.", DreamFactoryJSON.row)],
            refuses: one404 + body + [.recordReferredTo, .recordVersionDiffers]
        ),
    ]

    private static let shared: [Endpoint.Parameter] = [.answerFormat, .idField, .continues]
    private static let list404: [ServiceError] = [.collectionNotFound, .indexMissing]
    private static let one404: [ServiceError] = list404 + [.recordNotFound, .recordForbidden]
    private static let body: [ServiceError] = [
        .malformedJSON, .jsonNotAnObject, .jsonRequired, .bodyTooLarge, .bodyIncomplete, .tooManyRecords,
        .recordIDInvalid,
    ]
    private static let contents: [ServiceError] = [
        .recordInvalid, .invalidRecordBody(""), .recordTooLarge,
    ]

    private static func write(
        _ name: String,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping HandledEndpoint<Self>.SessionHandler,
        _ summary: String,
        _ details: String,
        takes parameters: [Endpoint.Parameter],
        refuses refusals: [ServiceError]
    ) -> HandledEndpoint<Self> {
        let isOne = path.hasSuffix(":id")
        return HandledEndpoint(
            name,
            .dreamFactory,
            method,
            path,
            .dreamFactory(handler),
            summary,
            details: details,
            limitedBy: [.recordWritesPerUser],
            takes: parameters + [.rowFields] + shared,
            sends: DreamFactoryJSON.sent,
            answers: [.ok("The record, or the records.", isOne ? DreamFactoryJSON.row : DreamFactoryJSON.rowOrRows)],
            refuses: one404 + refusals + [.jsonNotAnObject, .tooManyRecords, .recordIDInvalid, .parametersMissing]
        )
    }

    private static func change(
        _ name: String,
        _ method: HTTPRequest.Method,
        _ path: String,
        takes parameters: [Endpoint.Parameter]
    ) -> HandledEndpoint<Self> {
        let isOne = path.hasSuffix(":id")
        return write(
            name,
            method,
            path,
            handleChange,
            isOne ? "Change a record" : "Change many records",
            """
            Fields that are left out stay as they are. `PUT`, `PATCH` and `MERGE` do the same. \
            \(isOne ? "" : "The records are those of `ids`, of `filter`, or of the body, each with its id. All are changed, or none.")
            """,
            takes: parameters,
            refuses: [.recordVersionDiffers, .noRoomForRecords, .readerFull] + contents
        )
    }

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.servesDreamFactory }

    init(_ parts: WebParts) { self.parts = parts }

    private var accounts: DreamFactoryAccounts { DreamFactoryAccounts(parts) }

    // MARK: Accounts

    @Sendable
    private func handleRegister(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let (user, issued) = try await accounts.register(request, context) else { return Self.success }
        return DreamFactoryJSON.response(DreamFactoryJSON.Account(user), token: issued.token)
    }

    @Sendable
    private func handleSignIn(request: Request, context: ServiceRequestContext) async throws -> Response {
        let (user, issued) = try await accounts.signIn(request, context)
        return DreamFactoryJSON.response(DreamFactoryJSON.Account(user), token: issued.token)
    }

    @Sendable
    private func handleSession(request: Request, context: SessionRequestContext) async throws -> Response {
        guard let profile = try await parts.useCases.accounts.members.profile(ofUser: context.session.userID),
            let token = AuthorizationHeader.token(in: request.headers)
        else { throw SessionError.ended }
        return DreamFactoryJSON.response(DreamFactoryJSON.Account(profile.member), token: token)
    }

    @Sendable
    private func handleSignOut(request: Request, context: SessionRequestContext) async throws -> Response {
        let source = parts.sources.source(of: request, context: context)
        try await parts.useCases.accounts.clearTokens(context.session, from: source)
        return Self.success
    }

    private static var success: Response { .json { $0.member("success", true) }.notStored() }

    // MARK: Reading

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let call = try await call(request, context, takesRow: false)
        let records = try await records(request, context)
        var related = try await records.relations(of: call)
        let limit = try call.limit(hasMany: related.hasMany)
        let (offset, counts) = (try call.offset(), try call.counts())
        let selection = try call.selectionOrRows(of: records.table, maxIDs: RecordLimits.maxPageCount)
        let (order, fields) = (try call.order(), try call.fields(usually: .all))
        let memory = try memory(limit, context, hasRelated: !related.relations.isEmpty)
        let list = try await records.list(
            selection,
            order: order,
            limit: limit,
            offset: offset,
            include: related.included,
            counts: counts
        )
        try await records.find(&related, of: list)
        let found = related
        return try await offEventLoop {
            try Response.json(within: memory) { json in
                var count = 0
                json.nested("record") { json in
                    json.array { json in
                        // The rest comes with the next page.
                        for record in list.records where count == 0 || json.byteCount < RecordQuery.maxPageBytes {
                            found.write(record, fields, of: records.table, to: &json)
                            count += 1
                        }
                    }
                }
                let meta = DreamFactoryListMeta(of: list, count: count, offset: offset)
                if meta.isNeeded { json.nested("meta") { meta.write(to: &$0) } }
            }.revalidated()
        }
    }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        let call = try await call(request, context, takesRow: false)
        let records = try await records(request, context)
        var related = try await records.relations(of: call)
        let fields = try call.fields(usually: .all)
        let memory = try memory(1, context, hasRelated: !related.relations.isEmpty)
        let (record, included) = try await parts.useCases.records.readRecords.record(
            try id(context),
            in: RecordLocation(collection: records.table.collection.name, inboxOf: nil),
            including: related.included,
            by: context.session.userID
        )
        try await records.find(&related, of: DreamFactoryRecords.List(records: [record], included: included))
        let found = related
        return try await offEventLoop {
            var json = JSONWriter()
            found.write(record, fields, of: records.table, to: &json)
            return try Response(json, within: memory).revalidated()
        }
    }

    // MARK: Writing

    @Sendable
    private func handleCreate(request: Request, context: SessionRequestContext) async throws -> Response {
        let call = try await call(request, context, takesRow: true)
        let records = try await records(request, context)
        let id = try idIfAny(context)
        let answer = try DreamFactoryAnswer(call, isOne: call.isOne || id != nil)
        let rows = try rows(of: call, isOne: id != nil)
        return try await offEventLoop {
            let operations = try map(rows, isOne: call.isOne) { try records.table.operation(.create, $0, id: id) }
            let memory = try memory(operations.count, context, tellsOfChange: true)
            let written = try await records.write(operations, areMany: !call.isOne)
            return try answer.response(written, of: records.table, within: memory)
        }
    }

    @Sendable
    private func handleChange(request: Request, context: SessionRequestContext) async throws -> Response {
        let call = try await call(request, context, takesRow: true)
        let records = try await records(request, context)
        let (table, id) = (records.table, try idIfAny(context))
        let selection = id == nil ? try call.selection(of: table, maxIDs: RecordLimits.maxBatchCount) : nil
        let answer = try DreamFactoryAnswer(call, isOne: id != nil || selection == nil && call.isOne)
        let rows = try rows(of: call, isOne: id != nil || selection != nil)
        if selection != nil, rows[0][DreamFactoryTable.id] != nil { throw DreamFactoryCall.idBesideSelection }
        return try await offEventLoop {
            switch selection {
            case .conditions?:
                let memory = try memory(RecordLimits.maxBatchCount, context, tellsOfChange: true)
                let written = try await records.write(to: selection) { id, condition in
                    try table.operation(.patch, rows[0], id: id, condition: condition)
                }.after
                return try answer.response(written, of: table, within: memory)
            case .ids, nil:
                let operations: [RecordOperation] =
                    if case .ids(let ids)? = selection {
                        try ids.map { try table.operation(.patch, rows[0], id: $0) }
                    } else {
                        try map(rows, isOne: call.isOne) { try table.operation(.patch, $0, id: id) }
                    }
                let memory = try memory(operations.count, context, tellsOfChange: true)
                let written = try await records.write(operations, areMany: operations.count > 1 || !answer.isOne)
                return try answer.response(written, of: table, within: memory)
            }
        }
    }

    @Sendable
    private func handleDelete(request: Request, context: SessionRequestContext) async throws -> Response {
        let call = try await call(request, context, takesRow: false)
        let records = try await records(request, context)
        let id = try idIfAny(context)
        let answer = try DreamFactoryAnswer(call, isOne: id != nil)
        let selection =
            try id.map { .ids([$0]) }
            ?? call.selectionOrRows(of: records.table, maxIDs: RecordLimits.maxBatchCount)
        return try await offEventLoop {
            switch selection {
            case nil: throw ServiceError.parametersMissing([Endpoint.Parameter.rowIDs.name])
            case .conditions?:
                let memory = try memory(RecordLimits.maxBatchCount, context, tellsOfChange: true)
                let deleted = try await records.write(to: selection) { RecordOperation(.delete, id: $0, condition: $1) }
                return try answer.response(deleted.before, of: records.table, within: memory)
            case .ids(let ids)?:
                guard !ids.isEmpty else { throw ServiceError.recordIDInvalid }
                let memory = try memory(ids.count, context, tellsOfChange: true)
                // What was asked for is read before it is gone.
                let before = answer.fields.areMore ? try await records.list(selection, limit: ids.count) : nil
                guard before?.hasMore != true else { throw DreamFactoryCall.tooMuchToRead }
                try await records.write(ids.map { RecordOperation(.delete, id: $0) }, areMany: id == nil)
                if let before { return try answer.response(before.records, of: records.table, within: memory) }
                return try answer.response(ids: ids, of: records.table, within: memory)
            }
        }
    }

    // MARK: Parts

    private func call(
        _ request: Request,
        _ context: SessionRequestContext,
        takesRow: Bool
    ) async throws -> DreamFactoryCall {
        try await DreamFactoryCall(request, context, memory: parts.permits.recordBodies, takesRow: takesRow)
    }

    private func records(_ request: Request, _ context: SessionRequestContext) async throws -> DreamFactoryRecords {
        guard let table = context.segment(.table), !table.utf8.contains(0) else {
            throw ServiceError.collectionNotFound
        }
        return try await DreamFactoryRecords(parts, request, context, table: table)
    }

    private func id(_ context: SessionRequestContext) throws(ServiceError) -> String {
        guard let id = context.segment(.rowID), RecordID.isValid(id) else { throw .recordIDInvalid }
        return id
    }

    /// The id of the path; nil for a path without one.
    private func idIfAny(_ context: SessionRequestContext) throws(ServiceError) -> String? {
        context.parameters.get(Endpoint.Parameter.rowID.name) == nil ? nil : try id(context)
    }

    private func rows(
        of call: DreamFactoryCall,
        isOne: Bool
    ) throws(ServiceError) -> [OrderedDictionary<String, JSONValue>] {
        guard let rows = call.rows, !rows.isEmpty else { throw .parametersMissing([DreamFactoryCall.record]) }
        guard !isOne || rows.count == 1 else { throw .tooManyRecords }
        return rows
    }

    /// Makes the operations of a body's records, and says of which one a refusal speaks.
    private func map(
        _ rows: [OrderedDictionary<String, JSONValue>],
        isOne: Bool,
        _ operation: (OrderedDictionary<String, JSONValue>) throws -> RecordOperation
    ) throws -> [RecordOperation] {
        var operations: [RecordOperation] = []
        for (position, row) in rows.enumerated() {
            do {
                operations.append(try operation(row))
            } catch let error as RecordBodyError {
                throw isOne ? error.refusal : error.at(position).refusal
            } catch let refusal as RecordRefusal {
                throw ServiceError(isOne ? refusal : RecordRefusal(refusal.reason, at: position))
            }
        }
        return operations
    }

    /// The memory of an answer with some records, and as much again for what is related to them.
    private func memory(
        _ count: Int,
        _ context: SessionRequestContext,
        hasRelated: Bool = false,
        tellsOfChange: Bool = false
    ) throws(TooBusy) -> AnswerMemory {
        let bytes = hasRelated ? 2 * AnswerMemory.maxPageBytes : RecordBodies.pageBytes(count)
        return try AnswerMemory(bytes, of: parts.answers, for: context, tellsOfChange: tellsOfChange)
    }
}
