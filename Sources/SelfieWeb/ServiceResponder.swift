import HTTPTypes
import Hummingbird

/// Wraps the router with rules for every request.
///
/// As in Rails, `.json` at the end of a path is ignored, and HEAD answers as GET does, without the body. A POST to DreamFactory's
/// routes may name another method.
package struct ServiceResponder: HTTPResponder {
    typealias Context = ServiceRequestContext

    private let router: RouterResponder<ServiceRequestContext>

    private let servesDreamFactory: Bool

    init(router: Router<ServiceRequestContext>, servesDreamFactory: Bool) {
        self.servesDreamFactory = servesDreamFactory
        self.router = router.buildResponder()
    }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        let formatless = Self.withoutFormat(request)
        let request = servesDreamFactory ? DreamFactoryRequest.withMeantMethod(formatless) : formatless
        // A task of its own frees its memory when it ends; a connection lasts longer.
        async let answer = router.respond(to: request, context: context)
        let response = try await answer
        return request.method == .head ? response.createHeadResponse() : response
    }

    private static let ownNames = [
        "/api/records/".utf8, "/api/members/".utf8, "/api/subscriptions/".utf8, "/rest/db/".utf8,
    ]

    private static func withoutFormat(_ request: Request) -> Request {
        guard let target = request.head.path else { return request }
        var path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let query = target.utf8[path.endIndex...]
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        guard path.suffix(Endpoint.format.utf8.count).elementsEqual(Endpoint.format.utf8) else { return request }
        // Records and subscriptions have ids of their clients' choice, which may end like that.
        if ownNames.contains(where: path.starts(with:)) { return request }
        var head = request.head
        head.path = String(Substring(path.dropLast(Endpoint.format.utf8.count))) + String(Substring(query))
        return Request(head: head, body: request.body)
    }
}
