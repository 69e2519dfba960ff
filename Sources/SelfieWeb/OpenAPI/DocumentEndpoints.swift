import Crypto
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// The API's description, for programs and for people.
struct DocumentEndpoints: EndpointGroup {
    private let document: ByteBuffer
    private let tag: EntityTag

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "openAPI",
            .service,
            .get,
            "/openapi.json",
            .public(handleGet),
            "This document",
            details: "The description of the API, as OpenAPI 3.1.",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The document.", .document, headers: [.entityTag]), .notModified]
        ),
        HandledEndpoint(
            "docs",
            .service,
            .get,
            "/docs",
            .public { _ in { request, _ in try page(for: request) } },
            "The page to read and try the API on",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The page.", .file(["text/html"]), headers: [.entityTag]), .notModified]
        ),
    ]

    private static func page(for request: Request) throws -> Response {
        guard let page = StaticFile.all["docs/docs.html"] else { throw ServiceError.wrongURL }
        return page.response(to: request, headers: PagePolicy.headers())
    }

    static func isOpen(_ settings: WebParts.Settings) -> Bool { settings.hasPublicDocs }

    init(_ parts: WebParts) {
        var json = JSONWriter(capacity: 128 * 1024)
        json.write(OpenAPIDocument(of: parts.endpoints, facts: parts.settings.facts).value)
        document = json.buffer
        tag = EntityTag(SHA256.hash(data: document.readableBytesView).withUnsafeBytes { Base64URL.string(of: $0) })
    }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        var headers: HTTPFields = [.eTag: tag.quoted, .cacheControl: "no-cache"]
        guard Preconditions(tag: tag).outcome(request.headers) == .proceed else {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = jsonContentType
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: document))
    }
}
