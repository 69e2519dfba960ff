import HTTPTypes
import Hummingbird

/// Wraps the router with what Rails does to every request: `.json` at the end of a path is ignored, and HEAD answers
/// as GET does, without the body.
struct ServiceResponder: HTTPResponder {
    typealias Context = ServiceRequestContext

    private let router: RouterResponder<ServiceRequestContext>

    init(router: Router<ServiceRequestContext>) {
        self.router = router.buildResponder()
    }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        let response = try await router.respond(to: Self.withoutFormat(request), context: context)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private static func withoutFormat(_ request: Request) -> Request {
        guard let target = request.head.path else { return request }
        var path = target.prefix { $0 != "?" }
        while path.last == "/" { path.removeLast() }
        guard path.hasSuffix(".json") else { return request }
        var head = request.head
        head.path = path.dropLast(".json".count) + String(target.drop { $0 != "?" })
        return Request(head: head, body: request.body)
    }
}
