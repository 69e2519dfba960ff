import HTTPTypes
import Hummingbird
import JSON
import RecordSchema
import SelfieConfiguration
import SelfieCore
import SelfieRecords

/// The API's description, for programs and for people.
struct DocumentEndpoints: EndpointGroup {
    private let document: DocumentCache
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "openAPI",
            .service,
            .get,
            "/openapi.json",
            .public(handleGet),
            "This document",
            details: "The description of the API in OpenAPI 3.1.",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The document.", .document, headers: [.entityTag]), .notModified]
        ),
        HandledEndpoint(
            "docs",
            .service,
            .get,
            "/docs",
            .public { _ in { request, _ in try page(for: request) } },
            "The page that describes the API and lets you try it",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The page.", .file(["text/html"]), headers: [.entityTag]), .notModified]
        ),
    ]

    private static func page(for request: Request) throws -> Response {
        guard let page = StaticFile.all["docs/docs.html"] else { throw ServiceError.wrongURL }
        return page.response(to: request, headers: PagePolicy.headers())
    }

    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasPublicDocs }

    init(_ parts: WebParts) {
        self.parts = parts
        document = DocumentCache { [parts] schema in
            var json = JSONWriter(capacity: 512 * 1024)
            let collections = schema.collections.flatMap { CollectionDescription(of: $0, in: schema).endpoints }
            // Without an inbox, no member can send to one.
            let inbox = schema.collections.contains { $0.access == .inbox } ? [] : RecordEndpoints.inbox
            let hidden = Set(inbox.map(\.description.name))
            let open = parts.endpoints.filter { !hidden.contains($0.name) }
            json.write(OpenAPIDocument(of: open + collections, settings: parts.settings).value)
            return StaticFile(json.buffer, contentType: jsonContentType)
        }
    }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        await document.file { try await parts.useCases.records.schemas.newest() }.response(to: request)
    }
}
