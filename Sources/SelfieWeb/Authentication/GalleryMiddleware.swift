import HTTPTypes
import Hummingbird
import SelfieCore

/// Lets only the gallery's own pages through, and takes their cookie for the token of the API.
///
/// Nothing else reads the cookie. A refusal does not delete it: a request that began before the password was changed
/// would delete the new one.
struct GalleryMiddleware: ServiceMiddleware {
    let origin: PublicOrigin

    func handle(
        _ request: Request,
        context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let origin = origin.origin(of: request.head)
        guard SameSiteRule.allows(request.head, origin: origin) else { throw ServiceError.crossSiteRequest }
        let cookie = SessionCookie(origin: origin, headers: request.headers)
        var head = request.head
        head.headerFields[.authorization] = cookie.token(in: request.headers).map { "Token token=\($0)" }
        do {
            return try await next(Request(head: head, body: request.body), context)
        } catch {
            let refusal = ServiceError(error)
            // The log and the metrics need the error itself.
            throw refusal.headers[.wwwAuthenticate] == nil ? error : refusal.withoutChallenge
        }
    }
}
