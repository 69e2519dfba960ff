import Budgets
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ObjectStore
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfiePhotos
import SelfieRecords

/// Photos' bytes, for anybody with a signed URL: the signature is the permission.
struct PhotoFileEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "openPhoto",
            .photos,
            .get,
            "\(PhotoURLDay.path):\(Endpoint.Parameter.randomID.name)",
            .public(handleGet),
            "Open a photo",
            details: """
                `image_url` is such a URL. The signature is the permission, so no header is needed. Append `&size=small` or \
                `&size=medium` for a small picture: a JPEG, or a WebP if the photo has transparency. If it is not made within \
                five seconds, the photo is sent with `Cache-Control: no-store`.
                """,
            dependsOn: [.ifNoneMatch, .ifMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange],
            takes: [.randomID, .expires, .series, .photoScope, .signature, .photoSize],
            answers: [
                .ok("The photo.", .photoBytes, headers: [.entityTag, .lastModified, .fileName]),
                Endpoint.Answer(
                    .partialContent,
                    "A part of the photo.",
                    .photoBytes,
                    headers: [.entityTag, .lastModified, .fileName, .contentRange]
                ),
                .notModified,
                Endpoint.Answer(.found, "The photo is in the bucket.", headers: [.location]),
            ],
            refuses: [invalidURL, notFound, preconditionFailed, .noSuchBytes, .tooManyRequests, .tooManyAtOnce]
        )
    ]

    private static let invalidURL = ServiceError(
        status: .forbidden,
        code: "photo_url_invalid",
        message: "The photo's address is invalid or has expired"
    )
    static let notFound = ServiceError(
        status: .notFound,
        code: "photo_not_found",
        message: "There is no such photo"
    )
    private static let preconditionFailed = ServiceError(
        status: .preconditionFailed,
        code: "precondition_failed",
        message: "The photo does not match the request's conditions"
    )
    /// How many seconds a photo is cached in place of its small picture while no renderer is there.
    private static let pauseCacheSeconds = 60
    /// How many seconds a redirect's URL still works when it leaves a cache.
    private static let redirectMarginSeconds = 60

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        let query = try FormParameters.parse((request.uri.query ?? "").utf8)
        let (date, photos) = (parts.now(), parts.useCases.photos.store)
        let size = try Self.size(query)
        guard
            let randomID = context.parameters.get(Endpoint.Parameter.randomID.name).flatMap(PercentEncoding.decoded),
            let expires = query[Endpoint.Parameter.expires.name],
            let signature = query[Endpoint.Parameter.signature.name],
            let url = parts.photoURLs.check(
                randomID: randomID,
                expires: expires,
                series: query[Endpoint.Parameter.series.name],
                scope: query[Endpoint.Parameter.photoScope.name],
                signature: signature,
                at: date
            )
        else { throw Self.invalidURL }
        // Asked each time, even for a client with a copy, so that no URL outlives its photo.
        let found = try await photo(randomID, size)
        guard let found else { throw Self.notFound }
        guard found.original.urlSeries == url.series else { throw Self.invalidURL }
        // So the URL ends with the right to see what it was made for.
        if let scope = url.scope, try await !photos.isShown(randomID, for: scope) { throw Self.invalidURL }
        let secondsLeft = url.secondsLeft
        guard let size else {
            return try await answer(with: found.original, to: request, context, at: date, secondsLeft: secondsLeft)
        }
        let sized = try await made(found, size)
        if case .ready(let rendition) = sized.rendition {
            do {
                return try await answer(with: rendition, to: request, context, at: date, secondsLeft: secondsLeft)
            } catch  where Self.isLost(error) {
                try await photos.forgetRendition(key: rendition.objectKey)
            }
        }
        // Later, other bytes are sent for this URL.
        let original = sized.original.withoutTime
        var response = try await answer(with: original, to: request, context, at: date, secondsLeft: secondsLeft)
        if sized.isTemporary, let make = parts.useCases.photos.makeRendition {
            let seconds = min(Self.pauseCacheSeconds, secondsLeft)
            response.headers[.cacheControl] = make.isAvailable ? "no-store" : "private, max-age=\(seconds)"
        }
        return response
    }

    /// Whether a small picture must be made again.
    private static func isLost(_ error: any Error) -> Bool {
        if case ObjectStoreError.refused(let cause) = error { return cause is WrongObjectLength }
        return (error as? ServiceError)?.code == notFound.code
    }

    /// The size that a request asks for; nil for the photo itself.
    private static func size(_ query: [String: String]) throws(ServiceError) -> RenditionSize? {
        guard let text = query[Endpoint.Parameter.photoSize.name] else { return nil }
        let size = RenditionSize.allCases.first { $0.rawValue.hasSameBytes(as: text) }
        guard let size else { throw Endpoint.Parameter.photoSize.invalid }
        return size
    }

    private func photo(_ randomID: String, _ size: RenditionSize?) async throws -> SizedPhoto? {
        let photos = parts.useCases.photos.store
        if let size { return try await photos.sizedPhoto(randomID, size) }
        return try await photos.servedPhoto(randomID).map(SizedPhoto.init(original:))
    }

    /// Whether another request may get a small picture that is not there.
    private var rendersPhotos: Bool { parts.useCases.photos.makeRendition?.isAvailable == true }

    /// The photo with its small picture, if it can be made soon.
    private func made(_ photo: SizedPhoto, _ size: RenditionSize) async throws -> SizedPhoto {
        guard photo.isAwaited, rendersPhotos, let make = parts.useCases.photos.makeRendition else { return photo }
        guard let made = try await make(photo, size) else { throw Self.notFound }
        return made
    }

    /// A redirect to a photo or small picture, or its bytes.
    private func answer(
        with photo: ServedPhoto,
        to request: Request,
        _ context: ServiceRequestContext,
        at date: Date,
        secondsLeft: Int
    ) async throws -> Response {
        var photo = photo
        switch photo.preconditions.outcome(request.headers) {
        case .failed: throw Self.preconditionFailed
        case .notModified:
            let headers: HTTPFields = [.eTag: photo.preconditions.tag.quoted]
            return Response(status: .notModified, headers: Self.headers(cacheSeconds: secondsLeft, and: headers))
        case .proceed: break
        }
        let isHead = request.method == .head
        let address = parts.sources.source(of: request, context: context).address
        // Whatever asks the store needs a permit.
        var permits: [Permit<String>] = []
        if photo.contentType == nil {
            permits = try acquire(for: address)
            let described = try await parts.useCases.photos.describePhoto(
                photo,
                isKept: !isHead,
                logger: context.logger
            )
            guard let described else { throw Self.missingObject(context) }
            photo = described
        }
        if parts.settings.photoDelivery == .redirect {
            let response = try await redirect(to: photo, isHead: isHead, at: date, secondsLeft: secondsLeft)
            if let response { return response }
        }
        if permits.isEmpty { permits = try acquire(for: address) }
        let answer = PhotoAnswer(photo: photo, objects: parts.objects, permits: permits)
        let response = try await answer.response(to: request, context: context)
        guard var response else { throw Self.missingObject(context) }
        response.headers = Self.headers(cacheSeconds: secondsLeft, and: response.headers)
        return response
    }

    /// Permits for a download, of the address and of its site.
    private func acquire(for address: ClientAddress) throws(TooBusy) -> [Permit<String>] {
        [
            try parts.permits.downloads.acquire(for: address.network),
            try parts.permits.downloadsOfSites.acquire(for: address.site),
        ]
    }

    private static func missingObject(_ context: ServiceRequestContext) -> ServiceError {
        context.logger.error("a photo's object is missing")
        return notFound
    }

    private func redirect(
        to photo: ServedPhoto,
        isHead: Bool,
        at date: Date,
        secondsLeft: Int
    ) async throws -> Response? {
        let end = date + TimeInterval(secondsLeft)
        let url = try await parts.objects.publicURL(
            key: photo.objectKey,
            at: date,
            endingBy: end,
            isHead: isHead,
            answering: photo.answerHeaders
        )
        guard let url else { return nil }
        let cacheSeconds = max(0, Int(url.end.timeIntervalSince(date)) - Self.redirectMarginSeconds)
        return Response(status: .found, headers: Self.headers(cacheSeconds: cacheSeconds, and: [.location: url.url]))
    }

    /// Headers that keep browsers from showing a photo as a page, and shared caches from storing it.
    private static func headers(cacheSeconds: Int, and others: HTTPFields) -> HTTPFields {
        var headers = others
        headers[.cacheControl] = "private, max-age=\(cacheSeconds)"
        headers[.contentSecurityPolicy] = "sandbox"
        return headers
    }
}
