import HTTPTypes
import Hummingbird
import JSON

/// Health checks: whether the process runs, and whether it can serve requests.
struct HealthEndpoints: EndpointGroup {
    private let parts: WebParts

    static let endpoints: [HandledEndpoint<Self>] = [
        HandledEndpoint(
            "live",
            .service,
            .get,
            "/livez",
            .public(handleLive),
            "Check whether the process runs",
            answers: [.message(alive)]
        ),
        HandledEndpoint(
            "ready",
            .service,
            .get,
            "/readyz",
            .public(handleReady),
            "Check whether the service can serve requests",
            answers: [
                .ok("All is ready.", .array(Endpoint.Answer.Member.check)),
                Endpoint.Answer(
                    .serviceUnavailable,
                    "Something is not ready.",
                    .array(Endpoint.Answer.Member.check)
                ),
            ]
        ),
    ]

    /// The paths of these endpoints.
    static let paths = Set(endpoints.map(\.description.path))

    private static let alive = "The process is alive"

    init(_ parts: WebParts) { self.parts = parts }

    @Sendable
    private func handleLive(request: Request, context: ServiceRequestContext) async throws -> Response {
        .message(Self.alive).notStored()
    }

    @Sendable
    private func handleReady(request: Request, context: ServiceRequestContext) async throws -> Response {
        let findings = await parts.readiness.findings()
        var json = JSONWriter()
        json.array(findings) { json, finding in
            json.object { json in
                json.member("check", finding.name)
                json.member("ready", finding.isReady)
            }
        }
        let isReady = findings.allSatisfy(\.isReady)
        return Response(json, status: isReady ? .ok : .serviceUnavailable).notStored()
    }
}
