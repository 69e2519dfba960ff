import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import SelfieAccounts
import SelfieConfiguration
import SelfieCore

/// The directory of all members.
struct DirectoryEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listMembers",
            .members,
            .get,
            "/api/members",
            .token(handleList),
            "List the members",
            details: """
                All members, sorted by name. With `query`: members whose full name, last name or title starts with it, sorted \
                by what matched. The call exists only with `DIRECTORY=members`.
                """,
            takes: [.beginning, .afterMember, .memberLimit],
            answers: [.ok("A page of members.", page)]
        )
    ]

    private typealias Member = Endpoint.Answer.Member

    private static let page = Endpoint.Answer.Body.json(
        schema: [
            "type": "object", "required": ["members", "next"], "additionalProperties": false,
            "properties": [
                "members": ["type": "array", "items": Endpoint.Answer.Body.schema(of: Member.member)],
                "next": [
                    "type": ["string", "null"],
                    "description": "The `after` of the next page; `null` on the last page.",
                ],
            ],
        ],
        example: [
            "members": [Endpoint.Answer.Body.example(of: Member.member)], "next": .string(Member.memberID),
        ]
    )

    /// About what a member takes of a page while it is made, with the largest profile.
    private static let maxMemberBytes = 20 << 10

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasDirectory }

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let limit = try parameters.integer(.memberLimit) ?? DirectorySelection.usualLimit
        let memory = try AnswerMemory(limit * Self.maxMemberBytes, of: parts.answers, for: context)
        let page = try await parts.useCases.accounts.members.page(
            DirectorySelection(
                beginning: try parameters.text(.beginning),
                after: try parameters.text(.afterMember),
                limit: limit
            )
        )
        let writer = MemberWriter(parts, for: request, context)
        return try Response.json(within: memory) { json in
            json.nested("members") { json in
                json.array(page.members) { writer.write($1, to: &$0) }
            }
            json.member("next", page.next)
        }.revalidated()
    }
}
