import FoundationEssentials
import Hummingbird
import JSON
import SelfieAccounts
import SelfieCore

/// A user's own profile.
struct MemberEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "getProfile",
            .members,
            .get,
            "/api/me",
            .token(handleGet),
            "Read your profile",
            answers: [.ok("The profile.", .object(Member.profile))]
        ),
        HandledEndpoint(
            "changeProfile",
            .members,
            .patch,
            "/api/me",
            .token(handleChange),
            "Change your profile",
            details: """
                What is left out stays unchanged. `fields` is a merge patch (RFC 7396): `null` removes a field. Others see the \
                whole profile, but the e-mail address only if `shows_email` is `true`.
                """,
            limitedBy: [.recordWritesPerUser],
            sends: .profileChange,
            answers: [.ok("The changed profile.", .object(Member.profile))]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        let userID = context.session.userID
        guard let profile = try await parts.useCases.accounts.members.profile(ofUser: userID) else {
            throw SessionError.ended
        }
        return response(profile, to: request, context)
    }

    @Sendable
    private func handleChange(request: Request, context: SessionRequestContext) async throws -> Response {
        let body = try await JSONBody.read(from: request, context: context, maxBytes: Self.maxBodyBytes)
        guard case .object(let change) = body else { throw ServiceError.jsonNotAnObject }
        let profile = try await parts.useCases.accounts.changeProfile(
            ProfileChange(change),
            ofUser: context.session.userID,
            from: parts.sources.source(of: request, context: context)
        )
        return response(profile, to: request, context)
    }

    /// The free fields as they are stored, with as much again for escapes, white space and the rest.
    static let maxBodyBytes = 32 * 1024

    private func response(_ profile: Profile, to request: Request, _ context: SessionRequestContext) -> Response {
        var json = JSONWriter()
        MemberWriter(parts, for: request, context).write(profile, to: &json)
        return Response(json).revalidated()
    }
}
