import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieCore

/// A user's open sessions, and how to end them.
struct SessionEndpoints: EndpointGroup {
    private let sessions: SessionStore
    private let sources: RequestSourceReader
    private let answers: AnswerMemory.Budget
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listSessions",
            .sessions,
            .get,
            "/api/sessions",
            .token(handleList),
            "List the sessions",
            answers: [.ok("The open sessions.", .array(Member.session))],
            refuses: [.tokenExpired]
        ),
        HandledEndpoint(
            "endSession",
            .sessions,
            .delete,
            "/api/sessions/:id",
            .token(handleEnd),
            "End a session",
            details: "The session's token no longer works.",
            takes: [.sessionID],
            answers: [.message(sessionEnded)],
            refuses: [.tokenExpired, notFound]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member

    static let notFound = ServiceError(
        status: .notFound,
        code: "session_not_found",
        message: "There is no such session"
    )
    static let sessionEnded = "Session ended"
    /// What a hundred sessions with the longest labels take.
    private static let maxListBytes = 128 << 10

    init(_ parts: WebParts) {
        sessions = parts.useCases.sessions
        sources = parts.sources
        answers = parts.answers
        now = parts.now
    }

    @Sendable
    func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let date = now()
        let own = try context.session.alive(at: date, otherwise: .tokenExpired)
        let memory = try AnswerMemory(Self.maxListBytes, of: answers, for: own, context)
        let list = try await sessions.list(ofUser: own.userID, at: date, always: own.id)
        var json = JSONWriter()
        json.array(list) { json, session in
            json.object { json in
                json.member("id", String(session.id))
                json.member("device", session.device)
                json.member("created_at", session.creation.contractText)
                json.member("last_used_at", session.lastUse.contractText)
                json.member("expires_at", session.expiry.contractText)
                json.member("current", session.id == own.id)
            }
        }
        var response = try Response(json, within: memory)
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }

    @Sendable
    func handleEnd(request: Request, context: SessionRequestContext) async throws -> Response {
        let own = try context.session.alive(at: now(), otherwise: .tokenExpired)
        // Other spellings of an id match no session.
        guard let text = context.parameters.get(Endpoint.Parameter.sessionID.name), let id = Int(text),
            String(id) == text
        else { throw Self.notFound }
        let hasEnded = try await sessions.end(
            id: id,
            ofUser: own.userID,
            as: .sessionEnded,
            from: sources.source(of: request, context: context)
        )
        guard hasEnded else { throw Self.notFound }
        return .message(Self.sessionEnded)
    }
}
