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
            answers: [.ok("The profile.", .object(Member.profile))],
            refuses: [.tokenExpired]
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
            answers: [.ok("The changed profile.", .object(Member.profile))],
            refuses: [.tokenExpired]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleGet(request: Request, context: SessionRequestContext) async throws -> Response {
        let date = parts.now()
        let session = try context.session.alive(at: date, otherwise: .tokenExpired)
        guard let profile = try await parts.useCases.accounts.members.profile(ofUser: session.userID) else {
            throw SessionError.ended
        }
        return response(profile, at: date, to: request, of: session)
    }

    @Sendable
    private func handleChange(request: Request, context: SessionRequestContext) async throws -> Response {
        let date = parts.now()
        let session = try context.session.alive(at: date, otherwise: .tokenExpired)
        let body = try await JSONBody.read(from: request, context: context, maxBytes: Self.maxBodyBytes)
        guard case .object(let change) = body else { throw ServiceError.jsonNotAnObject }
        let profile = try await parts.useCases.accounts.changeProfile(
            ProfileChange(change),
            ofUser: session.userID,
            from: parts.sources.source(of: request, context: context)
        )
        return response(profile, at: date, to: request, of: session)
    }

    /// The free fields as they are stored, with as much again for escapes, white space and the rest.
    static let maxBodyBytes = 32 * 1024

    private func response(_ profile: Profile, at date: Date, to request: Request, of session: Session) -> Response {
        var json = JSONWriter()
        MemberWriter(parts, at: date, for: request.head, of: session).write(profile, to: &json)
        return Response(json).revalidated()
    }
}
