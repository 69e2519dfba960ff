import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import SelfieConfiguration

/// The answer of `/`: the original's text, or a page for people.
struct WelcomeEndpoints: EndpointGroup {
    private let page: StaticFile?
    private let policy: HTTPFields

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "welcome",
            .service,
            .get,
            "/",
            .public(handleGet),
            "A greeting",
            details: "A browser gets a page; with `GALLERY=true`, the gallery.",
            dependsOn: [.ifNoneMatch],
            answers: [.ok("The service is running.", .page(text: text), headers: [.pageTag]), .notModified]
        )
    ]

    /// The page shows what needs mails only with the second.
    private static let withoutMail = #"data-mail="off""#
    private static let withMail = #"data-mail="on""#
    private static let text = "Glad to find you here!"

    init(_ parts: WebParts) {
        let page = StaticFile.all[parts.settings.hasGallery ? "gallery/gallery.html" : "shared/welcome.html"]
        self.page = parts.settings.mail == nil ? page : page?.replacing(Self.withoutMail, with: Self.withMail)
        // A redirect leads to the bucket, whose address only the store knows.
        policy = PagePolicy.headers(imageSources: parts.settings.photoDelivery == .redirect ? ["https:", "http:"] : [])
    }

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let page, ProtocolWord.list(request.headers[.accept] ?? "").contains("text/html") else {
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; charset=utf-8", .vary: "Accept"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: Self.text))
            )
        }
        var response = page.response(to: request, headers: policy)
        response.headers.addVary("Accept")
        return response
    }
}
