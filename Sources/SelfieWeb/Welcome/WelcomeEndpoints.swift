import HTTPTypes
import Hummingbird
import NIOCore

/// The answer of `/`: the original's text, or a page for people.
struct WelcomeEndpoints: EndpointGroup {
    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "welcome",
            .service,
            .get,
            "/",
            .public(handleGet),
            "A greeting",
            details: "A browser gets a page.",
            answers: [.ok("The service is there.", .page(text: text))]
        )
    ]

    init(_ parts: WebParts) {}

    private static let text = "Glad to find you here!"

    private static let page = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Selfie</title>
        <style>
        :root { color-scheme: light dark }
        body { font: 18px/1.6 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid;
            place-items: center; text-align: center }
        h1 { font-size: 2.5rem; line-height: 1.2; margin: 0 0 .5rem }
        p { margin: 0; opacity: .75 }
        main { padding: 2rem; max-width: 34rem }
        </style>
        </head>
        <body>
        <main>
        <h1>\(text)</h1>
        <p>This is Selfie, the private photo service behind your selfie app. It is up and listening; your app
        talks to it under <code>/api</code>.</p>
        </main>
        </body>
        </html>
        """

    @Sendable
    private func handleGet(request: Request, context: ServiceRequestContext) async throws -> Response {
        let isBrowser = request.headers[.accept]?.contains("text/html") == true
        return Response(
            status: .ok,
            headers: [
                .contentType: isBrowser ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'",
                .vary: "Accept",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: isBrowser ? Self.page : Self.text))
        )
    }
}
