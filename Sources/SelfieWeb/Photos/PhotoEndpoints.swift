import Budgets
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ObjectStore
import SelfieCore

/// Photos.
///
/// It is a class, because each request would copy a value of this size.
final class PhotoEndpoints: EndpointGroup {
    private let useCases: UseCases
    private let origin: PublicOrigin
    private let photoURLs: PhotoURLSigner
    private let maxUploadBytes: Int
    private let sources: RequestSourceReader
    private let spoolBudget: SpoolBudget
    private let lists: PhotoLists
    private let listRequests: Places<Int>
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<PhotoEndpoints>] = [
        HandledEndpoint(
            "uploadPhoto",
            .photos,
            .post,
            "/api/upload_photo",
            .token(handleUpload),
            "Upload a photo",
            details: """
                Either the whole photo is stored, or nothing. After an answer of 200, it is safe. With `listed=false`, it is not in \
                the list. It is deleted with the last record that refers to it, or after a day without one.
                """,
            limitedBy: [.uploadsPerUser],
            takes: [.title, .image, .fileName, .listed],
            answers: [.ok("The photo.", .object(Member.photo))],
            refuses: [
                tokenExpiredForUpload, .unknownPhotoFormat, .noRoomForPhotos,
            ]
        ),
        HandledEndpoint(
            "listPhotos",
            .photos,
            .get,
            "/api/get_photos",
            .checksItsOwnToken(handleList),
            "List the photos",
            details:
                "The user's photos, the oldest first. Send the `ETag` as `If-None-Match`: an unchanged list gets 304.",
            dependsOn: [.ifNoneMatch],
            takes: [.limit, .after, .order],
            answers: [.ok("The photos.", .array(Member.photo), headers: [.entityTag, .nextPage]), .notModified],
            refuses: [.tokenExpired]
        ),
        HandledEndpoint(
            "deletePhoto",
            .photos,
            .delete,
            "/api/delete_photo",
            .token(handleDelete),
            "Delete a photo",
            details: "The photo's URL stops working at once.",
            takes: [.photoID],
            answers: [.message(imageDeleted)],
            refuses: [.tokenExpired, notTheirs]
        ),
    ]

    private typealias Member = Endpoint.Answer.Member

    static let tokenExpiredForUpload = ServiceError.tokenExpired("Authtoken has expired")
    static let notTheirs = ServiceError(
        status: .unauthorized,
        code: PhotoFileEndpoints.notFound.code,
        message: "Invalid Photo ID or You don't have permission to delete this photo!"
    )
    static let imageDeleted = "Image deleted"

    init(_ parts: WebParts) {
        useCases = parts.useCases
        origin = parts.origin
        photoURLs = parts.photoURLs
        maxUploadBytes = parts.settings.maxUploadBytes
        sources = parts.sources
        spoolBudget = parts.spoolBudget
        lists = PhotoLists(parts)
        listRequests = parts.listRequests
        now = parts.now
    }

    @Sendable
    func handleUpload(request: Request, context: SessionRequestContext) async throws -> Response {
        guard MediaType(request.head) == .multipart else {
            // The other kinds of body can't hold a file.
            throw try RequestParameters.readQuery(of: request, context: context)
                .missing([Endpoint.Parameter.image.name]).with(hint: "A photo comes as multipart/form-data")
        }
        // The place is held until the photo is stored. The body of an expired session is read and dropped.
        let place = try useCases.admitUpload.place(for: context.session.uploader(at: now()))
        defer { withExtendedLifetime(place) {} }
        let admitted = context.session.ifAlive(at: now())
        if let admitted {
            try await useCases.admitUpload(
                userID: admitted.userID,
                minBytes: UploadForm.minFileBytes(of: request, maxFileBytes: maxUploadBytes),
                from: sources.source(of: request, context: context)
            )
        }
        let form = try await UploadForm(
            request: request,
            context: context,
            maxFileBytes: maxUploadBytes,
            spool: { Spool(spoolBudget, userID: admitted?.userID ?? 0) },
            keepsFile: admitted != nil
        )
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        let parameters = RequestParameters(query: query, body: form.fields, names: context.parameterNames)
        guard let image = form.image, query[Endpoint.Parameter.image.name] == nil else {
            throw parameters.missing([Endpoint.Parameter.image.name])
        }
        let title = try parameters.require(.title)
        let isListed = try parameters.flag(.listed, otherwise: true)
        let session = try context.session.alive(at: now(), otherwise: Self.tokenExpiredForUpload)
        let new = try await NewPhoto(
            title: title,
            fileName: image.fileName,
            object: image.object,
            userID: session.userID,
            isListed: isListed
        )
        let stored = try await useCases.uploadPhoto(new, sessionID: session.id, logger: context.logger)
        let urls = photoURLs.day(of: now(), origin: origin.origin(of: request.head), series: stored.urlSeries)
        return .json { stored.row[0].writeJSON(to: &$0, urls: PhotoURLWriter(urls)) }
    }

    @Sendable
    func handleList(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let token = AuthorizationHeader.token(in: request.headers) else { throw SessionError.ended }
        let library = try await useCases.listPhotos.library(
            token: token,
            from: sources.source(of: request, context: context)
        )
        context.notes.note(userID: library.userID)
        let date = now()
        guard library.expiry > date else { throw ServiceError.tokenExpired }
        let selection = try await PhotoSelection(request, context: context)
        let origin = origin.origin(of: request.head)
        let urls = photoURLs.day(of: date, origin: origin, series: library.urlSeries)
        let kept = lists.kept(selection, of: library, urls: urls)
        let tag = kept?.tag ?? library.entityTag(of: selection, urls: urls)
        if Preconditions(tag: tag).outcome(request.headers) == .notModified {
            var headers = Self.headers(tag: tag)
            // As the list itself has it (RFC 9110, section 15.4.5).
            headers.addVary("Accept-Encoding")
            return Response(status: .notModified, headers: headers)
        }
        if let kept {
            let body = ResponseBody(kept, on: context.channel)
            return Response(status: .ok, headers: Self.listHeaders(tag: tag), body: body)
        }
        let turn = try listRequests.take(for: library.userID)
        defer { withExtendedLifetime(turn) {} }
        let list = try await lists.list(selection, token: token, on: context.channel) { series in
            photoURLs.day(of: date, origin: origin, series: series)
        }
        if list.isStreamed { context.notes.noteStreaming() }
        var headers = Self.listHeaders(tag: list.library.entityTag(of: selection, urls: list.urls))
        if let last = list.lastBeforeMore, let link = HTTPField.Name("Link") {
            headers[link] = selection.link(toPageAfter: last, of: origin + (context.endpointPath ?? ""))
        }
        return Response(status: .ok, headers: headers, body: list.body)
    }

    private static func listHeaders(tag: EntityTag) -> HTTPFields {
        var headers = headers(tag: tag)
        headers[.contentType] = jsonContentType
        return headers
    }

    private static func headers(tag: EntityTag) -> HTTPFields {
        [.eTag: tag.quoted, .cacheControl: "private, max-age=0, must-revalidate"]
    }

    @Sendable
    func handleDelete(request: Request, context: SessionRequestContext) async throws -> Response {
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
}
