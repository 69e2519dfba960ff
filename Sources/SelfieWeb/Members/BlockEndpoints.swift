import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieCore

/// The members that a user has blocked.
struct BlockEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listBlocks",
            .members,
            .get,
            "/api/blocks",
            .token(handleList),
            "List the members you have blocked",
            answers: [.ok("The members' ids.", list)]
        ),
        HandledEndpoint(
            "blockMember",
            .members,
            .put,
            "/api/blocks/:member",
            .token(handleBlock),
            "Block a member",
            details: """
                The member can no longer send you records or add you as a reader, and is not told. Blocking a member again \
                changes nothing. A user may block \(BlockStore.maxCount) members.
                """,
            limitedBy: [.recordWritesPerUser],
            takes: [.memberID],
            answers: [.message(blocked)],
            refuses: [.memberNotFound, .memberIsOneself, .tooManyBlocks]
        ),
        HandledEndpoint(
            "unblockMember",
            .members,
            .delete,
            "/api/blocks/:member",
            .token(handleUnblock),
            "Unblock a member",
            details: "Unblocking a member who is not blocked changes nothing.",
            limitedBy: [.recordWritesPerUser],
            takes: [.memberID],
            answers: [.message(unblocked)],
            refuses: [.memberNotFound]
        ),
    ]

    private static let list = Endpoint.Answer.Body.json(
        schema: [
            "type": "object", "required": ["blocks"], "additionalProperties": false,
            "properties": ["blocks": ["type": "array", "items": ["type": "string"]]],
        ],
        example: ["blocks": [.string(Endpoint.Answer.Member.memberID)]]
    )

    /// The bytes of a thousand ids.
    private static let maxListBytes = 64 << 10

    static let blocked = "Member blocked"
    static let unblocked = "Member unblocked"

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let memory = try AnswerMemory(Self.maxListBytes, of: parts.answers, for: context)
        let members = try await parts.useCases.accounts.blocks.members(blockedBy: context.session.userID)
        var json = JSONWriter()
        json.write(["blocks": JSONValue(members)])
        return try Response(json, within: memory).revalidated()
    }

    @Sendable
    private func handleBlock(request: Request, context: SessionRequestContext) async throws -> Response {
        try await change(.block, request, context)
        return .message(Self.blocked)
    }

    @Sendable
    private func handleUnblock(request: Request, context: SessionRequestContext) async throws -> Response {
        try await change(.unblock, request, context)
        return .message(Self.unblocked)
    }

    private func change(
        _ change: BlockMember.Change,
        _ request: Request,
        _ context: SessionRequestContext
    ) async throws {
        guard let id = context.parameters.get(Endpoint.Parameter.memberID.name) else {
            throw ServiceError.memberNotFound
        }
        try await parts.useCases.accounts.blockMember(
            change,
            id,
            by: context.session.userID,
            from: parts.sources.source(of: request, context: context)
        )
    }
}
