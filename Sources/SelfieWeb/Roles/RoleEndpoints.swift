import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import RecordSchema
import SelfieAccounts
import SelfieCore
import SelfieRecords

/// The members of roles, for those who manage them.
struct RoleEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "listRoleMembers",
            .roles,
            .get,
            "/api/roles/:role/members",
            .token(handleList),
            "List the members of a role",
            details: "Only for members of a role that manages this one.",
            takes: [.role, .membersAfter, .membersLimit],
            answers: [.ok("A page.", .json(schema: pageSchema, example: pageExample))],
            refuses: [.roleNotFound, .roleForbidden]
        ),
        HandledEndpoint(
            "getRoleMember",
            .roles,
            .get,
            "/api/roles/:role/members/:member",
            .token(handleGet),
            "Check whether a member has a role",
            details: "Only for members of a role that manages this one.",
            takes: [.role, .memberID],
            answers: [.ok("The member.", .json(schema: memberSchema, example: memberExample))],
            refuses: [.roleNotFound, .memberNotFound, .roleForbidden]
        ),
        HandledEndpoint(
            "addRoleMember",
            .roles,
            .put,
            "/api/roles/:role/members/:member",
            .token(handleAdd),
            "Give a member a role",
            details: "Only for members of a role that manages this one.",
            limitedBy: [.recordWritesPerUser],
            takes: [.role, .memberID],
            answers: [.message(added)],
            refuses: [.roleNotFound, .memberNotFound, .roleForbidden, .roleFull]
        ),
        HandledEndpoint(
            "removeRoleMember",
            .roles,
            .delete,
            "/api/roles/:role/members/:member",
            .token(handleRemove),
            "Remove a role from a member",
            details: "Only for members of a role that manages this one.",
            limitedBy: [.recordWritesPerUser],
            takes: [.role, .memberID],
            answers: [.message(removed)],
            refuses: [.roleNotFound, .memberNotFound, .roleForbidden]
        ),
    ]

    private static let added = "Role added"
    private static let removed = "Role removed"
    private static let usualLimit = 50
    /// The bytes of a member in an answer, with the longest names.
    private static let maxMemberBytes = 4 << 10

    private static let memberSchema: JSONValue = [
        "type": "object", "required": ["id", "first_name", "last_name", "added_at"], "additionalProperties": false,
        "properties": [
            "id": ["type": "string"], "first_name": ["type": "string"], "last_name": ["type": "string"],
            "added_at": ["type": "string", "format": "date-time"],
        ],
    ]
    private static let memberExample: JSONValue = [
        "id": .string(Endpoint.Answer.Member.memberID), "first_name": "Ada", "last_name": "Lovelace",
        "added_at": "2026-11-24T10:00:00.000Z",
    ]
    private static let pageSchema: JSONValue = [
        "type": "object", "required": ["members", "next"], "additionalProperties": false,
        "properties": ["members": ["type": "array", "items": memberSchema], "next": ["type": ["string", "null"]]],
    ]
    private static let pageExample: JSONValue = ["members": [memberExample], "next": .null]

    init(_ parts: WebParts) { self.parts = parts }

    private var manageRoles: ManageRoles { parts.useCases.records.manageRoles }

    @Sendable
    private func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let role = Self.role(context)
        try await manageRoles.require(role, managedBy: context.session.userID)
        let parameters = try RequestParameters.readQuery(of: request, context: context)
        let limit = try parameters.integer(.membersLimit) ?? Self.usualLimit
        let after = try parameters.text(.membersAfter)
        if let after, !after.isEmpty, !MemberID.isPossible(after) { throw Endpoint.Parameter.membersAfter.invalid }
        let memory = try AnswerMemory(limit * Self.maxMemberBytes, of: parts.answers, for: context)
        let members = try await manageRoles.store.members(of: role, after: after, limit: limit + 1)
        return try Response.json(within: memory) { json in
            json.nested("members") { $0.array(members.prefix(limit)) { Self.write($1, to: &$0) } }
            json.member("next", members.count > limit ? members[limit - 1].id : nil)
        }.revalidated()
    }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        let role = Self.role(context)
        try await manageRoles.require(role, managedBy: context.session.userID)
        let member = try await manageRoles.store.member(Self.member(context), of: role)
        return Response.json { Self.writeMembers(of: member, to: &$0) }.revalidated()
    }

    @Sendable
    private func handleAdd(request: Request, context: SessionRequestContext) async throws -> Response {
        _ = try await change(.add, request, context)
        return .message(Self.added)
    }

    @Sendable
    private func handleRemove(request: Request, context: SessionRequestContext) async throws -> Response {
        guard try await change(.remove, request, context) else { throw ServiceError.memberNotFound }
        return .message(Self.removed)
    }

    private func change(
        _ change: ManageRoles.Change,
        _ request: Request,
        _ context: SessionRequestContext
    ) async throws -> Bool {
        try await manageRoles(
            change,
            Self.role(context),
            ofMember: Self.member(context),
            by: context.session,
            from: parts.sources.source(of: request, context: context)
        )
    }

    private static func role(_ context: SessionRequestContext) -> String {
        context.parameters.get(Endpoint.Parameter.role.name) ?? ""
    }

    private static func member(_ context: SessionRequestContext) -> String {
        context.parameters.get(Endpoint.Parameter.memberID.name) ?? ""
    }

    private static func write(_ member: RoleStore.Member, to json: inout JSONWriter) {
        json.object { writeMembers(of: member, to: &$0) }
    }

    private static func writeMembers(of member: RoleStore.Member, to json: inout JSONWriter) {
        json.member("id", member.id)
        json.member("first_name", member.firstName)
        json.member("last_name", member.lastName)
        json.member("added_at", member.addedAt.contractText)
    }
}

extension Endpoint.Parameter {
    static let role = Self("role", .id, in: .path, "The role's name.", example: "team")
    static let membersAfter = Self(
        "after",
        .text(maxCharacters: nil),
        in: .query,
        "The `next` of the previous page.",
        example: Endpoint.Answer.Member.memberID,
        isRequired: false,
        valid: "next of the previous page"
    )
    static let membersLimit = Self(
        "limit",
        .integer(1...100),
        in: .query,
        "The maximum number of members of a page. Defaults to 50.",
        example: "50",
        isRequired: false
    )
}

extension ServiceError {
    static let roleNotFound = ServiceError(status: .notFound, code: "role_not_found", message: "There is no such role")
    static let roleForbidden = ServiceError(
        status: .forbidden,
        code: "role_forbidden",
        message: "You do not manage this role"
    )
    static let roleFull = ServiceError(
        status: .forbidden,
        code: "role_full",
        message: "A role has at most \(RoleStore.maxMemberCount) members"
    )
}
