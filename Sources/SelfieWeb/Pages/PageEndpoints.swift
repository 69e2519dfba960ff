import HTTPTypes
import Hummingbird
import SelfieConfiguration

/// Files that every browser requests.
struct PageEndpoints: EndpointGroup {
    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "icon",
            .service,
            .get,
            "/favicon.ico",
            .public { _ in { request, _ in try file("favicon.ico", for: request) } },
            "The icon",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The icon.", .file(["image/x-icon"]), headers: [.entityTag]), .notModified]
        ),
        HandledEndpoint(
            "robots",
            .service,
            .get,
            "/robots.txt",
            .public { _ in { request, _ in try file("robots.txt", for: request) } },
            "The rules for search engines",
            details: "They may read nothing: photos are private.",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The rules.", .file(["text/plain"]), headers: [.entityTag]), .notModified]
        ),
        HandledEndpoint(
            "file",
            .service,
            .get,
            "/files/:name",
            .public(handleFile),
            "A file of a page",
            details: "Scripts and styles of this service's pages.",
            dependsOn: [.ifNoneMatch],
            takes: [.fileOfPage],
            answers: [
                .ok("The file.", .file(["text/css", "text/javascript"]), headers: [.entityTag]), .notModified,
            ],
            refuses: [noSuchFile]
        ),
    ]

    private static let noSuchFile = ServiceError(
        status: .notFound,
        code: "file_not_found",
        message: "There is no such file"
    )

    private let folders: [String]

    init(_ parts: WebParts) {
        folders =
            ["shared"] + (parts.settings.hasPublicDocs ? ["docs"] : []) + (parts.settings.hasGallery ? ["gallery"] : [])
    }

    @Sendable
    private func handleFile(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let name = context.parameters.get(Endpoint.Parameter.fileOfPage.name),
            name.hasSuffix(".js") || name.hasSuffix(".css"),
            let file = folders.lazy.compactMap({ StaticFile.all["\($0)/\(name)"] }).first
        else { throw Self.noSuchFile }
        return file.response(to: request)
    }

    private static func file(_ name: String, for request: Request) throws -> Response {
        guard let file = StaticFile.all["shared/\(name)"] else { throw noSuchFile }
        return file.response(to: request)
    }
}
