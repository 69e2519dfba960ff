import Budgets
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ObjectStore
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfiePhotos

/// Photos.
struct PhotoEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints = [upload, list, deletion]

    static let upload = HandledEndpoint<Self>(
        "uploadPhoto",
        .photos,
        .post,
        "/api/upload_photo",
        .tokenAfterParameters(handleUpload),
        "Upload a photo",
        details: """
            Either the whole photo is stored, or nothing. After an answer of 200, it is safe. With `listed=false`, it is not in \
            the list. It is deleted with the last record that refers to it, or after a day without one.

            If the answer was lost, send the same request again with the same `Idempotency-Key`. You get the photo that was \
            stored, and no second one. The key lives as long as the photo, and a day longer.
            """,
        limitedBy: [.uploadsPerUser],
        dependsOn: [.idempotencyKey],
        takes: [.title, .image, .fileName, .listed],
        answers: [.ok("The photo.", .object(Member.photo), headers: [.replayed])],
        refuses: [
            tokenExpiredForUpload, .unknownPhotoFormat, .noRoomForPhotos, .idempotencyKeyInvalid, .uploadUnderWay,
            .uploadDeleted, .idempotencyKeyReused,
        ]
    )

    static let list = HandledEndpoint<Self>(
        "listPhotos",
        .photos,
        .get,
        "/api/get_photos",
        .token(handleList),
        "List the photos",
        details:
            "The user's photos, the oldest first. Send the `ETag` as `If-None-Match`: an unchanged list gets 304.",
        readsFromStandby: true,
        dependsOn: [.ifNoneMatch],
        takes: [.limit, .after, .order],
        answers: [.ok("The photos.", .array(Member.photo), headers: [.entityTag, .nextPage]), .notModified]
    )

    static let deletion = HandledEndpoint<Self>(
        "deletePhoto",
        .photos,
        .delete,
        "/api/delete_photo",
        .tokenAfterParameters(handleDelete),
        "Delete a photo",
        details: "The photo's URL stops working at once.",
        takes: [.photoID],
        answers: [.message(imageDeleted)],
        refuses: [.tokenExpired, notTheirs]
    )

    private typealias Member = Endpoint.Answer.Member

    static let tokenExpiredForUpload = ServiceError.tokenExpired("Authtoken has expired")
    static let notTheirs = ServiceError(
        status: .unauthorized,
        code: PhotoFileEndpoints.notFound.code,
        message: "Invalid Photo ID or You don't have permission to delete this photo!"
    )
    static let imageDeleted = "Image deleted"

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    func handleUpload(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        guard MediaType(request.head) == .multipart else {
            // The other kinds of body can't hold a file.
            throw try RequestParameters.readQuery(of: request, context: context)
                .missing([Endpoint.Parameter.image.name]).with(hint: "A photo comes as multipart/form-data")
        }
        let key = try Self.key(of: request)
        let maxBytes = parts.settings.maxUploadBytes
        // The permit is held until the photo is stored. The body of an expired session is read and dropped.
        let permit = try parts.useCases.photos.admitUpload.permit(for: token.uploader)
        defer { withExtendedLifetime(permit) {} }
        let admitted = token.ifAlive
        if let admitted {
            try await parts.useCases.photos.admitUpload(
                userID: admitted.userID,
                sessionID: admitted.id,
                minBytes: UploadForm.minFileBytes(of: request, maxFileBytes: maxBytes),
                key: key,
                from: parts.sources.source(of: request, context: context)
            )
        }
        let form = try await UploadForm(
            request: request,
            context: context,
            maxFileBytes: maxBytes,
            spool: admitted.map { session in { Spool(parts.permits.uploads, userID: session.userID) } }
        )
        let query = try FormParameters.parse(Array((request.uri.query ?? "").utf8))
        let parameters = RequestParameters(query: query, body: form.fields, names: context.parameterNames)
        guard let image = form.image, query[Endpoint.Parameter.image.name] == nil else {
            throw parameters.missing([Endpoint.Parameter.image.name])
        }
        let title = try parameters.require(.title)
        let isListed = try parameters.flag(.listed, otherwise: true)
        guard let object = image.object else { throw Self.tokenExpiredForUpload }
        let session = try token.alive(otherwise: Self.tokenExpiredForUpload)
        let new = try await NewPhoto(
            title: title,
            fileName: image.fileName,
            object: object,
            userID: session.userID,
            isListed: isListed,
            key: key,
            metadata: parts.settings.photoMetadata
        )
        let stored = try await parts.useCases.photos.uploadPhoto(new, sessionID: session.id, logger: context.logger)
        let origin = parts.origin.origin(of: request.head)
        let urls = parts.photoURLs.day(of: parts.now(), origin: origin, series: stored.urlSeries)
        var response = Response.json { stored.row[0].writeJSON(to: &$0, urls: PhotoURLWriter(urls)) }
        if stored.isEarlier { response.headers[.idempotencyReplayed] = "true" }
        return response
    }

    /// The client's key for an upload.
    private static func key(of request: Request) throws -> UploadKey? {
        let values = request.headers[values: .idempotencyKey]
        if values.isEmpty { return nil }
        guard values.count == 1, let key = UploadKey(values[0]) else { throw ServiceError.idempotencyKeyInvalid }
        return key
    }

    @Sendable
    func handleList(request: Request, context: SessionRequestContext) async throws -> Response {
        let (date, session) = (parts.now(), context.session)
        let selection = try await PhotoSelection(request, context: context)
        let origin = parts.origin.origin(of: request.head)
        func makeURLs(for library: PhotoLibrary) -> PhotoURLDay {
            parts.photoURLs.day(of: date, origin: origin, series: library.urlSeries)
        }
        let urls = makeURLs(for: session.library)
        let cached = selection == .all ? parts.listCache.cachedList(of: session.library, urls: urls) : nil
        let tag = cached?.tag ?? session.library.entityTag(of: selection, urls: urls)
        if Preconditions(tag: tag).outcome(request.headers) == .notModified {
            var headers = Self.headers(tag: tag)
            // As the list itself has it (RFC 9110, section 15.4.5).
            headers.addVary("Accept-Encoding")
            return Response(status: .notModified, headers: headers)
        }
        if let cached {
            let body = ResponseBody(cached, on: context.channel)
            return Response(status: .ok, headers: Self.listHeaders(tag: tag), body: body)
        }
        let permit = try parts.permits.listRequests.acquire(for: session.userID)
        defer { withExtendedLifetime(permit) {} }
        let list = try await PhotoLists(parts).list(selection, of: session, on: context.channel, urls: makeURLs)
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
    func handleDelete(
        request: Request,
        context: ServiceRequestContext,
        token: TokenSession
    ) async throws -> Response {
        let parameters = try await RequestParameters.read(from: request, context: context)
        let randomID = try parameters.require(.photoID)
        let session = try token.alive(otherwise: .tokenExpired)
        let isDeleted = try await parts.useCases.photos.deletePhoto(
            randomID,
            ofUser: session.userID,
            from: parts.sources.source(of: request, context: context),
            by: session.id,
            logger: context.logger
        )
        guard isDeleted else { throw Self.notTheirs }
        return .message(Self.imageDeleted)
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .eTag
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed") ?? .eTag
}
