import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// Photos.
///
///     POST   /api/upload_photo  Token
///     GET    /api/get_photos    Token
///     DELETE /api/delete_photo  Token
struct PhotoRoutes: Sendable {
    let uploadPhoto: UploadPhoto
    let deletePhoto: DeletePhoto
    let photos: PhotoStore
    let urls: PhotoURLSigner
    let origin: PublicOrigin
    let uploadBytesMax: Int
    let limiter: RateLimiter
    let guesses: TokenGuesses
    let uses: SessionUseRecorder
    let sources: RequestSourceReader
    let spoolMemory: SpoolMemory
    let now: @Sendable () -> Date

    private static let tokenExpired = "Authtoken has expired. Please get a new token and try again!"

    /// Adds the routes that take a user's token.
    func addTokenRoutes(to group: RouterGroup<SessionRequestContext>) {
        group.post("upload_photo", use: handleUpload)
        group.delete("delete_photo", use: handleDelete)
    }

    /// Adds the route whose statement checks the token as it lists.
    func addListRoute(to group: RouterGroup<ServiceRequestContext>) {
        group.get("get_photos", use: handleList)
    }

    @Sendable
    private func handleUpload(request: Request, context: SessionRequestContext) async throws -> Response {
        guard MediaType(request.head) == .multipart else {
            // The other kinds of body can't hold a file.
            throw ServiceError.parametersMissing
        }
        let isAlive = !context.session.isExpired(at: now())
        if isAlive {
            let (userID, source) = (context.session.userID, sources.source(of: request, context: context))
            try await limiter.count(.upload(userID: userID), ofUser: userID, from: source)
        }
        let form = try await UploadForm(
            request: request,
            context: context,
            fileBytesMax: uploadBytesMax,
            memory: spoolMemory,
            keepsFile: isAlive
        )
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        let title = try RequestParameters(query: query, body: form.fields).require("title")
        guard let image = form.image, query["image"] == nil else { throw ServiceError.parametersMissing }
        try context.session.requireAlive(at: now(), otherwise: "Authtoken has expired")
        let new = try NewPhoto(
            title: title,
            fileName: image.fileName,
            object: image.object,
            userID: context.session.userID
        )
        let photo = try await uploadPhoto(new, sessionID: context.session.id, logger: context.logger)
        let urls = urls.day(of: now(), origin: origin.origin(of: request.head))
        return .json { photo.write(to: &$0, urls: urls) }
    }

    @Sendable
    private func handleList(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let token = AuthorizationHeader.value(in: request.headers).flatMap(AuthorizationHeader.token) else {
            throw ServiceError.tokenAccessDenied
        }
        guard let list = try await photos.list(token: token) else {
            throw try await guesses.refusal(of: request, context: context)
        }
        uses.note(list.sessionID)
        let date = now()
        guard list.expiry > date else { throw ServiceError.unauthorized(Self.tokenExpired) }
        let urls = urls.day(of: date, origin: origin.origin(of: request.head))
        let tag = urls.tag(of: list.contents)
        let headers: HTTPFields = [.eTag: tag.quoted, .cacheControl: "private, max-age=0, must-revalidate"]
        var response =
            Preconditions(tag: tag).outcome(request.headers) == .notModified
            ? Response(status: .notModified) : try Response(list.json(urls: urls))
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    @Sendable
    private func handleDelete(request: Request, context: SessionRequestContext) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let randomID = try parameters.require("photo_id")
        try context.session.requireAlive(at: now(), otherwise: Self.tokenExpired)
        let source = sources.source(of: request, context: context)
        let userID = context.session.userID
        guard try await deletePhoto(randomID, ofUser: userID, from: source, logger: context.logger) else {
            throw ServiceError.unauthorized("Invalid Photo ID or You don't have permission to delete this photo!")
        }
        return .message("Image deleted")
    }
}
