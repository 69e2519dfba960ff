import Budgets
import Hummingbird
import JSON
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfieRecords

/// Members by their ids.
struct LookupEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "getMember",
            .members,
            .get,
            "/api/members/:member",
            .token(handleGet),
            "Read a member",
            details: """
                With `DIRECTORY=members`, any member. Without it, only you, and members whom you meet in records: who sent what lies \
                in your inbox, and who owns, writes or reads what you can read. Of others, the names, the title and the picture.
                """,
            takes: [.memberID],
            answers: [.ok("The member.", .object(Endpoint.Answer.Member.member))],
            refuses: [.memberNotFound]
        )
    ]

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        guard let id = context.parameters.get(Endpoint.Parameter.memberID.name),
            let member = try await member(id, for: context)
        else { throw ServiceError.memberNotFound }
        var json = JSONWriter()
        MemberWriter(parts, for: request, context).write(member, to: &json)
        return Response(json).revalidated()
    }

    /// The member as the user may see it; nil where the user may not.
    private func member(_ id: String, for context: SessionRequestContext) async throws -> Member? {
        let (session, members) = (context.session, parts.useCases.accounts.members)
        if parts.settings.hasDirectory || id == session.memberID { return try await members.member(id) }
        let search = try parts.permits.searches.acquire(for: session.userID)
        defer { withExtendedLifetime(search) {} }
        guard MemberID.isPossible(id),
            try await parts.useCases.records.findAcquaintance(id, of: session.userID)
        else { return nil }
        return try await members.member(id)?.briefly
    }
}
