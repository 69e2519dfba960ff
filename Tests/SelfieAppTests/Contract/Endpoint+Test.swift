import HTTPTypes

@testable import SelfieWeb

extension Endpoint {
    /// Method and path, as a scenario has them.
    var call: String { "\(method.rawValue) \(examplePath)" }

    /// The path, with something in place of what it leaves open.
    var examplePath: String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "1" : String($0) }.joined(separator: "/")
    }

    /// Whether a request without any parameter is refused.
    var needsParameters: Bool {
        parameters.contains { $0.isRequired && [.anywhere, .multipart].contains($0.place) }
    }

    /// The calls of some kinds.
    static func calls(_ kinds: Authentication...) -> [String] {
        Routes.endpoints.filter { kinds.contains($0.authentication) }.map(\.call)
    }

    /// What each path answers to; any other method is unknown there.
    static let methods: [String: Set<String>] = Dictionary(
        Routes.endpoints.map { endpoint in
            let method = endpoint.method.rawValue
            return (endpoint.examplePath, method == "GET" ? ["GET", "HEAD"] : [method])
        },
        uniquingKeysWith: { $0.union($1) }
    )
}
