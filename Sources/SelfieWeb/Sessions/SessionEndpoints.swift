import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieCore

/// A user's open sessions, and how to end them.
struct SessionEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints = [list, end]

    static let list = HandledEndpoint<Self>(
        "listSessions",
        .sessions,
        .get,
        "/api/sessions",
        .token(handleList),
        "List the sessions",
        answers: [.ok("The open sessions.", .array(Member.session))]
    )

    static let end = HandledEndpoint<Self>(
        "endSession",
        .sessions,
        .delete,
        "/api/sessions/:id",
        .token(handleEnd),
        "End a session",
        details: "The session's token no longer works.",
        takes: [.sessionID],
        answers: [.message(sessionEnded)],
        refuses: [notFound]
    )

    private typealias Member = Endpoint.Answer.Member

    static let notFound = ServiceError(
        status: .notFound,
        code: "session_not_found",
        message: "There is no such session"
    )
    static let sessionEnded = "Session ended"
    /// The bytes of a hundred sessions with the longest labels.
    private static let maxListBytes = 128 << 10

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let own = context.session
        let memory = try AnswerMemory(Self.maxListBytes, of: parts.answers, for: context)
        let list = try await parts.useCases.accounts.sessions.list(ofUser: own.userID, at: parts.now(), always: own.id)
        var json = JSONWriter()
        json.array(list) { json, session in
            json.object { json in
                json.member("id", String(session.id))
                json.member("device", session.device)
                json.member("created_at", session.createdAt.contractText)
                json.member("last_used_at", session.lastUsedAt.contractText)
                json.member("expires_at", session.expiresAt.contractText)
                json.member("current", session.id == own.id)
            }
        }
        return try Response(json, within: memory).revalidated()
    }

    @Sendable
    func handleEnd(request: Request, context: SessionRequestContext) async throws -> Response {
        // Other spellings of an id match no session.
        guard let text = context.parameters.get(Endpoint.Parameter.sessionID.name), let id = Int(text),
            String(id) == text
        else { throw Self.notFound }
        let source = parts.sources.source(of: request, context: context)
        let clearTokens = parts.useCases.accounts.clearTokens
        guard try await clearTokens.one(id, ofUser: context.session.userID, from: source) else { throw Self.notFound }
        return .message(Self.sessionEnded)
    }
}
