import Budgets
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieCore

/// What has changed: as a page, at once or as soon as there is something, and as a stream of events.
struct ChangeEndpoints: EndpointGroup {
    private let follow: FollowChanges
    private let places: Places<Int>
    private let writers: ChangeWriters
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listChanges",
            .changes,
            .get,
            "/api/changes",
            .token(handleChanges),
            "Follow what changes",
            details: """
                Without `since`, it begins with all that the user sees. `cursor` is the `since` of the next call. With \
                `Accept: text/event-stream`, the same comes as server-sent events for as long as the client listens: \
                `change`, `synced`, `cursor`, `reset` and `end`.
                """,
            dependsOn: [.lastEventID, .acceptEvents],
            takes: [.since, .changedCollections, .changeLimit, .wait],
            answers: [.ok("The changes.", ChangeJSON.page)],
            refuses: [.tokenExpired, .collectionNotFound] + ChangeReset.allCases.compactMap(ServiceError.init)
        )
    ]

    init(_ parts: WebParts) {
        follow = parts.useCases.followChanges
        places = parts.streams
        writers = ChangeWriters(photoURLs: parts.photoURLs, origin: parts.origin, now: parts.now)
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
        try await follow.requireCollections(of: query)
        guard isStream else { return try await page(query, start, session, seconds, request) }
        let stream = EventStream(
            query: query,
            start: start,
            session: session,
            follow: follow,
            writer: writers.writer(for: request),
            place: try places.take(for: session.userID)
        )
        return await stream.response(context: context)
    }

    private func page(
        _ query: ChangeQuery,
        _ start: ChangeQuery.Start,
        _ session: Session,
        _ seconds: Int,
        _ request: Request
    ) async throws -> Response {
        let batch: ChangeBatch
        if seconds == 0 {
            batch = try await follow.page(query, from: start, by: session)
        } else {
            let place = try places.take(for: session.userID)
            defer { withExtendedLifetime(place) {} }
            batch = try await follow.page(query, from: start, by: session, waiting: seconds)
        }
        let writer = writers.writer(for: request)
        return Response.json { json in
            json.nested("changes") { $0.array(batch.changes) { writer.write($1, to: &$0) } }
            json.member("cursor", batch.end.text)
            json.member("more", batch.hasMore)
        }.notStored()
    }

    /// Where the client is.
    ///
    /// What a browser sends by itself when it connects again counts more than its URL.
    private static func start(
        _ headers: HTTPFields,
        _ parameters: RequestParameters
    ) throws -> ChangeQuery.Start {
        let text = try headers[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } ?? parameters.text(.since)
        switch text {
        case nil: return .beginning
        case "now": return .now
        case let text?:
            guard let cursor = ChangeCursor(text) else {
                throw ServiceError(.invalid, of: Endpoint.Parameter.since.name)
            }
            return .after(cursor)
        }
    }
}

extension HTTPField.Name {
    /// The cursor of the last event that a client has got (HTML, "Server-sent events").
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .eTag
}
