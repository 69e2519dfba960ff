import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ObjectStore
import SelfieCore

/// Photos.
struct PhotoEndpoints: EndpointGroup {
    private let useCases: UseCases
    private let origin: PublicOrigin
    private let photoURLs: PhotoURLSigner
    private let maxUploadBytes: Int
    private let sources: RequestSourceReader
    private let spoolMemory: SpoolMemory
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            .post,
            "/api/upload_photo",
            .token(handleUpload),
            takes: [.title, .image],
            answers: [.ok(.object(photo))],
            refuses: [tokenExpiredForUpload, .invalidParameters, .unknownPhotoFormat]
        ),
        HandledEndpoint(
            .get,
            "/api/get_photos",
            .checksItsOwnToken(handleList),
            answers: [.ok(.array(photo)), .notModified],
            refuses: [.tokenExpired]
        ),
        HandledEndpoint(
            .delete,
            "/api/delete_photo",
            .token(handleDelete),
            takes: [.photoID],
            answers: [.ok(.message(imageDeleted))],
            refuses: [.tokenExpired, notTheirs]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member
    private static let photo = [Member("name"), Member("title"), Member("image_url", .url), Member("random_id")]

    private static let tokenExpiredForUpload = ServiceError.unauthorized("Authtoken has expired")
    private static let notTheirs = ServiceError.unauthorized(
        "Invalid Photo ID or You don't have permission to delete this photo!"
    )
    private static let imageDeleted = "Image deleted"

    init(_ parts: WebParts) {
        useCases = parts.useCases
        origin = parts.origin
        photoURLs = parts.photoURLs
        maxUploadBytes = parts.settings.maxUploadBytes
        sources = parts.sources
        spoolMemory = parts.spoolMemory
        now = parts.now
    }

    @Sendable
    private func handleUpload(request: Request, context: SessionRequestContext) async throws -> Response {
        guard MediaType(request.head) == .multipart else {
            // The other kinds of body can't hold a file.
            throw ServiceError.parametersMissing
        }
        let admitted = context.session.ifAlive(at: now())
        if let admitted {
            let source = sources.source(of: request, context: context)
            try await useCases.admitUpload(userID: admitted.userID, from: source)
        }
        let form = try await UploadForm(
            request: request,
            context: context,
            maxFileBytes: maxUploadBytes,
            memory: spoolMemory,
            keepsFile: admitted != nil
        )
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        let title = try RequestParameters(query: query, body: form.fields).require(.title)
        guard let image = form.image, query[Endpoint.Parameter.image.name] == nil else {
            throw ServiceError.parametersMissing
        }
        let session = try context.session.alive(at: now(), otherwise: Self.tokenExpiredForUpload)
        let new = try NewPhoto(
            title: title,
            fileName: image.fileName,
            object: image.object,
            userID: session.userID
        )
        let photo = try await useCases.uploadPhoto(new, sessionID: session.id, logger: context.logger)
        let urls = urls(for: request, at: now())
        return .json { photo.write(to: &$0, urls: urls) }
    }

    @Sendable
    private func handleList(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let token = AuthorizationHeader.token(in: request.headers) else { throw SessionError.ended }
        let list = try await useCases.listPhotos(token: token, from: sources.source(of: request, context: context))
        let date = now()
        guard list.expiry > date else { throw ServiceError.tokenExpired }
        let urls = urls(for: request, at: date)
        let tag = EntityTag(urls.code(of: list.contents))
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
        let randomID = try parameters.require(.photoID)
        let session = try context.session.alive(at: now(), otherwise: .tokenExpired)
        let isDeleted = try await useCases.deletePhoto(
            randomID,
            ofUser: session.userID,
            from: sources.source(of: request, context: context),
            logger: context.logger
        )
        guard isDeleted else { throw Self.notTheirs }
        return .message(Self.imageDeleted)
    }

    private func urls(for request: Request, at date: Date) -> PhotoURLDay {
        photoURLs.day(of: date, origin: origin.origin(of: request.head))
    }
}
