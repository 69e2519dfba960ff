import HTTPTypes
import Hummingbird

/// Wraps the router with rules for every request.
///
/// As in Rails, `.json` at the end of a path is ignored, and HEAD answers as GET does, without the body. A GET that changes
/// something goes on when its client is gone, as other methods do.
package struct ServiceResponder: HTTPResponder {
    typealias Context = ServiceRequestContext

    private let router: RouterResponder<ServiceRequestContext>
    /// The segments of the paths where a GET changes something.
    private let changingPaths: [[Substring]]

    init(router: Router<ServiceRequestContext>, endpoints: [Endpoint]) {
        self.router = router.buildResponder()
        changingPaths = endpoints.filter { $0.changesState && $0.method == .get }.map { $0.path.split(separator: "/") }
    }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        let request = Self.withoutFormat(request)
        if changesState(request) {
            // The connection cancels the task of a GET whose client is gone, but not this one.
            return try await Task { try await router.respond(to: request, context: context) }.value
        }
        // In a task of its own, whose memory goes when it ends: a connection lives on.
        async let answer = router.respond(to: request, context: context)
        let response = try await answer
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func changesState(_ request: Request) -> Bool {
        guard request.method == .get, let path = request.head.path?.prefix(while: { $0 != "?" }) else { return false }
        // Most paths end in another letter.
        let end = path.utf8.last { $0 != UInt8(ascii: "/") }
        return changingPaths.contains { segments in
            segments.last?.utf8.last == end && path.split(separator: "/") == segments
        }
    }

    private static let records = ["/api/records/".utf8, "/api/members/".utf8]

    private static func withoutFormat(_ request: Request) -> Request {
        guard let target = request.head.path else { return request }
        var path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let query = target.utf8[path.endIndex...]
        // Records have ids of their clients' choice, which may end like that.
        if records.contains(where: path.starts(with:)) { return request }
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        guard path.suffix(Endpoint.format.utf8.count).elementsEqual(Endpoint.format.utf8) else { return request }
        var head = request.head
        head.path = String(Substring(path.dropLast(Endpoint.format.utf8.count))) + String(Substring(query))
        return Request(head: head, body: request.body)
    }
}
