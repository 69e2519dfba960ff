import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Photos' bytes, for whoever has a signed URL.
///
///     GET /photos/:random_id?expires=…&signature=…
struct ServePhotoRoutes: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    let urls: PhotoURLSigner
    let now: @Sendable () -> Date

    private static let invalidURL = ServiceError(
        status: .forbidden,
        message: "The photo's address is invalid or has expired"
    )
    private static let notFound = ServiceError(status: .notFound, message: "There is no such photo")
    /// What is left of a redirect's life when it leaves a cache.
    private static let redirectMarginSeconds = 60

    /// Adds the route, which is open to everybody: the signature is the permission.
    func addPublicRoutes(to router: Router<ServiceRequestContext>) {
        router.get("photos/:random_id", use: handleGet)
    }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        guard
            let randomID = context.parameters.get("random_id")?.removingPercentEncoding,
            let expires = query["expires"], let signature = query["signature"],
            let secondsLeft = urls.secondsLeft(randomID: randomID, expires: expires, signature: signature, at: now())
        else { throw Self.invalidURL }
        let (isFound, contentType) = try await photos.contentType(ofPhoto: randomID)
        guard isFound else { throw Self.notFound }
        switch try await objects.delivery(key: randomID, secondsMax: secondsLeft, from: now()) {
        case .redirect(let url, let seconds):
            let cacheSeconds = max(0, seconds - Self.redirectMarginSeconds)
            return Response(status: .found, headers: Self.headers(cacheSeconds: cacheSeconds, and: [.location: url]))
        case .file(let file):
            let contentType =
                contentType ?? PhotoFormat(leadingBytes: file.leadingBytes)?.contentType ?? "application/octet-stream"
            return Response(
                status: .ok,
                headers: Self.headers(cacheSeconds: secondsLeft, and: [.contentType: contentType]),
                body: ResponseBody(contentLength: file.length) { writer in
                    for try await chunk in file.chunks { try await writer.write(chunk) }
                    try await writer.finish(nil)
                }
            )
        case nil:
            context.logger.error("a photo's object is missing")
            throw Self.notFound
        }
    }

    /// Keeps a browser from taking a photo for a page, and shared caches from keeping it.
    private static func headers(cacheSeconds: Int, and others: HTTPFields) -> HTTPFields {
        var headers = others
        headers[.cacheControl] = "private, max-age=\(cacheSeconds)"
        headers[.contentSecurityPolicy] = "sandbox"
        return headers
    }
}
