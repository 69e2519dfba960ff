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
    private let follow: FollowChanges
    private let streams: Permits<Int>
    private let answers: AnswerMemory.Budget
    private let writers: ChangeWriters
    private let metrics: ChangeMetrics
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
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
            dependsOn: headers,
            takes: parameters,
            answers: answers,
            refuses: refusals
        )
    ]

    /// The call's parameters and answers, by token or by cookie.
    static let headers: [Endpoint.Header] = [.lastEventID, .acceptEvents]
    static let parameters: [Endpoint.Parameter] = [.since, .changedCollections, .changeLimit, .wait]
    static let answers: [Endpoint.Answer] = [.ok("The changes.", ChangeJSONSchema.page)]
    static let refusals = [.tokenExpired, .collectionNotFound] + ChangeReset.allCases.map { ServiceError($0) }

    init(_ parts: WebParts) {
        follow = parts.useCases.records.followChanges
        streams = parts.permits.streams
        answers = parts.answers
        writers = ChangeWriters(photoURLs: parts.photoURLs, origin: parts.origin, now: parts.now)
        metrics = parts.changeMetrics
        now = parts.now
    }

    @Sendable
    func handleChanges(request: Request, context: SessionRequestContext) async throws -> Response {
        let session = try context.session.alive(at: now(), otherwise: .tokenExpired)
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let isStream = EventStream.isWanted(by: request.headers)
        let start = try Self.start(isStream ? request.headers : [:], parameters)
        let query = ChangeQuery(
            collections: try parameters.list(.changedCollections, max: ChangeQuery.maxCollectionCount).map(Set.init),
            limit: try parameters.integer(.changeLimit) ?? ChangeQuery.usualLimit,
            maxBytes: isStream ? ChangeQuery.maxBatchBytes : ChangeQuery.maxPageBytes
        )
        let seconds = try parameters.integer(.wait) ?? 0
        try await follow.requireCollections(of: query, by: session.userID)
        guard isStream else {
            // A waiting call reserves memory when there are changes, as much as these may need.
            func reserve(_ count: Int) throws(TooBusy) -> AnswerMemory {
                try AnswerMemory(RecordBodies.pageBytes(count), of: answers, for: session, context)
            }
            let early = seconds > 0 ? nil : try reserve(query.limit)
            let batch = try await batch(query, start, session, seconds)
            let memory = try early ?? reserve(batch.changes.count)
            metrics.delivered(batch.changes.count)
            return try response(with: batch, to: request, of: session, within: memory)
        }
        let stream = EventStream(
            query: query,
            start: start,
            session: session,
            follow: follow,
            writer: writers.writer(for: request, of: session),
            metrics: metrics,
            permit: try streams.acquire(for: session.userID)
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
            let permit = seconds > 0 ? try streams.acquire(for: session.userID) : nil
            defer { withExtendedLifetime(permit) {} }
            return try await follow.page(query, from: start, by: session, waiting: seconds)
        } catch let reset as ChangeReset {
            metrics.reset(reset)
            throw reset
        }
    }

    private func response(
        with batch: ChangeBatch,
        to request: Request,
        of session: Session,
        within memory: AnswerMemory
    ) throws(TooBusy) -> Response {
        let writer = writers.writer(for: request, of: session)
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
