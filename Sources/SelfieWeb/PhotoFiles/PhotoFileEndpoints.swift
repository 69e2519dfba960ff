import Budgets
import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ObjectStore
import SelfieCore

/// Photos' bytes, for anybody with a signed URL: the signature is the permission.
struct PhotoFileEndpoints: EndpointGroup {
    private let photos: PhotoStore
    private let describePhoto: DescribePhoto
    private let objects: any ObjectStore
    private let urls: PhotoURLSigner
    private let downloads: DownloadPlaces
    private let sources: RequestSourceReader
    private let redirectsToBucket: Bool
    private let now: @Sendable () -> Date

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "openPhoto",
            .photos,
            .get,
            "\(PhotoURLDay.path):\(Endpoint.Parameter.randomID.name)",
            .public(handleGet),
            "Open a photo",
            details: "What `image_url` leads to. The signature is the permission, so no header is needed.",
            dependsOn: [.ifNoneMatch, .ifMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange],
            takes: [.randomID, .expires, .series, .photoScope, .signature],
            answers: [
                .ok("The photo.", .photoBytes, headers: [.entityTag, .lastModified]),
                Endpoint.Answer(
                    .partialContent,
                    "A part of the photo.",
                    .photoBytes,
                    headers: [.entityTag, .lastModified, .contentRange]
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
        message: "The photo is not the one that was asked for"
    )
    /// How many seconds a redirect's URL still works when it leaves a cache.
    private static let redirectMarginSeconds = 60

    init(_ parts: WebParts) {
        photos = parts.useCases.photos
        describePhoto = parts.useCases.describePhoto
        objects = parts.objects
        urls = parts.photoURLs
        downloads = parts.downloads
        sources = parts.sources
        redirectsToBucket = parts.settings.redirectsToBucket
        now = parts.now
    }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        let query = try FormParameters.parse((request.uri.query ?? "").utf8)
        let date = now()
        guard
            let randomID = context.parameters.get(Endpoint.Parameter.randomID.name).flatMap(PercentEncoding.decoded),
            let expires = query[Endpoint.Parameter.expires.name],
            let signature = query[Endpoint.Parameter.signature.name],
            let url = urls.check(
                randomID: randomID,
                expires: expires,
                series: query[Endpoint.Parameter.series.name],
                scope: query[Endpoint.Parameter.photoScope.name],
                signature: signature,
                at: date
            )
        else { throw Self.invalidURL }
        // Asked each time, even for a client with a copy: a deleted photo is gone at once.
        guard var photo = try await photos.servedPhoto(randomID) else { throw Self.notFound }
        guard photo.urlSeries == url.series else { throw Self.invalidURL }
        // So the URL ends with the right to see what it was made for.
        if let scope = url.scope, try await !photos.isShown(randomID, for: scope) { throw Self.invalidURL }
        let secondsLeft = url.secondsLeft
        switch photo.preconditions.outcome(request.headers) {
        case .failed: throw Self.preconditionFailed
        case .notModified:
            let headers: HTTPFields = [.eTag: photo.preconditions.tag.quoted]
            return Response(status: .notModified, headers: Self.headers(cacheSeconds: secondsLeft, and: headers))
        case .proceed: break
        }
        let isHead = request.method == .head
        let address = sources.source(of: request, context: context).address
        // Whatever asks the store takes a place.
        var places: [Place] = []
        if photo.contentType == nil {
            places = try downloads.take(for: address)
            let described = try await describePhoto(photo, isKept: !isHead, logger: context.logger)
            guard let described else { throw Self.missingObject(context) }
            photo = described
        }
        if redirectsToBucket {
            let response = try await redirect(to: photo, isHead: isHead, at: date, secondsLeft: secondsLeft)
            if let response { return response }
        }
        if places.isEmpty { places = try downloads.take(for: address) }
        let answer = PhotoAnswer(photo: photo, objects: objects, places: places)
        let response = try await answer.response(to: request, context: context)
        guard var response else { throw Self.missingObject(context) }
        response.headers = Self.headers(cacheSeconds: secondsLeft, and: response.headers)
        return response
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
        let url = try await objects.publicURL(
            key: photo.randomID,
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
