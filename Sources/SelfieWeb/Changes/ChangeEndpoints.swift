import Budgets
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieCore
import SelfieRecords

/// Changes: as a page, at once or after a wait, and as a stream of events.
struct ChangeEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints = [list]

    static let list = HandledEndpoint<Self>(
        "listChanges",
        .changes,
        .get,
        "/api/changes",
        .token(handleChanges),
        "Follow changes",
        details: """
            Without `since`, it starts with everything the user can see. `cursor` is the `since` of the next call. With \
            `Accept: text/event-stream`, the answer is a stream of server-sent events: `change`, `synced`, `cursor`, \
            `reset` and `end`.
            """,
        dependsOn: [.lastEventID, .acceptEvents],
        takes: [.since, .changedCollections, .changeLimit, .wait],
        answers: [.ok("The changes.", ChangeJSONSchema.page)],
        refuses: [.collectionNotFound] + ChangeReset.allCases.map { ServiceError($0) }
    )

    init(_ parts: WebParts) { self.parts = parts }

    private var follow: FollowChanges { parts.useCases.records.followChanges }

    @Sendable
    func handleChanges(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let isStream = EventStream.isWanted(by: request.headers)
        let start = try Self.start(isStream ? request.headers : [:], parameters)
        let query = ChangeQuery(
            collections: try parameters.list(.changedCollections, max: ChangeQuery.maxCollectionCount).map(Set.init),
            limit: try parameters.integer(.changeLimit) ?? ChangeQuery.usualLimit,
            maxBytes: isStream ? ChangeQuery.maxBatchBytes : ChangeQuery.maxPageBytes
        )
        let seconds = try parameters.integer(.wait) ?? 0
        try await follow.requireCollections(of: query, by: context.session.userID)
        guard isStream else {
            // A waiting call reserves memory when there are changes, as much as these may need.
            func reserve(_ count: Int) throws(TooBusy) -> AnswerMemory {
                try AnswerMemory(RecordBodies.pageBytes(count), of: parts.answers, for: context)
            }
            let early = seconds > 0 ? nil : try reserve(query.limit)
            let batch = try await batch(query, start, context.session, seconds)
            let memory = try early ?? reserve(batch.changes.count)
            parts.changeMetrics.delivered(batch.changes.count)
            return try response(with: batch, to: request, of: context.session, within: memory)
        }
        let stream = EventStream(
            query: query,
            start: start,
            session: context.session,
            follow: follow,
            writer: ChangeWriter(records: RecordWriter(parts, for: request, of: context.session)),
            metrics: parts.changeMetrics,
            permit: try parts.permits.streams.acquire(for: context.session.userID)
        )
        return stream.response(context: context)
    }

    private func batch(
        _ query: ChangeQuery,
        _ start: ChangeQuery.Start,
        _ session: Session,
        _ seconds: Int
    ) async throws -> ChangeBatch {
        do {
            let permit = seconds > 0 ? try parts.permits.streams.acquire(for: session.userID) : nil
            defer { withExtendedLifetime(permit) {} }
            return try await follow.page(query, from: start, by: session, waiting: seconds)
        } catch let reset as ChangeReset {
            parts.changeMetrics.reset(reset)
            throw reset
        }
    }

    private func response(
        with batch: ChangeBatch,
        to request: Request,
        of session: Session,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        let writer = ChangeWriter(records: RecordWriter(parts, for: request, of: session))
        return try Response.json(within: memory) { json in
            json.nested("changes") { $0.array(batch.changes) { writer.write($1, to: &$0) } }
            json.member("cursor", batch.end.text)
            json.member("more", batch.hasMore)
        }.notStored()
    }

    /// Where the client is.
    ///
    /// The header that a browser sends when it reconnects takes precedence over its URL.
    private static func start(
        _ headers: HTTPFields,
        _ parameters: RequestParameters
    ) throws -> ChangeQuery.Start {
        // A browser never reconnects after a refusal. So it is sent `reset`.
        if let last = headers[.lastEventID], !last.isEmpty { return ChangeQuery.Start(last) ?? .unreadable }
        guard let text = try parameters.text(.since) else { return .beginning }
        guard let start = ChangeQuery.Start(text) else { throw Endpoint.Parameter.since.invalid }
        return start
    }
}

extension HTTPField.Name {
    /// The cursor of the last event that a client has got (HTML, "Server-sent events").
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .eTag
}
