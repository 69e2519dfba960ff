import HTTPTypes
import Hummingbird

/// Wraps the router with two rules of Rails for every request.
///
/// `.json` at the end of a path is ignored. HEAD answers as GET does, without the body.
package struct ServiceResponder: HTTPResponder {
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
        var path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let query = target.utf8[path.endIndex...]
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        guard path.suffix(format.utf8.count).elementsEqual(format.utf8) else { return request }
        var head = request.head
        head.path = String(Substring(path.dropLast(format.utf8.count))) + String(Substring(query))
        return Request(head: head, body: request.body)
    }

    private static let format = ".json"
}
