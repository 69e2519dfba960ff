import HTTPTypes

/// Which methods each path takes, for requests with another one.
///
/// The paths of railsauth are left out: it answered 404 to a wrong method there, and so does this service.
struct AllowedMethods: Sendable {
    private struct Path: Sendable {
        let segments: [Substring]
        var methods: Set<String>
    }

    private let paths: [Path]

    /// The paths that railsauth had.
    static let original: Set = [
        "/", "/api/signup", "/api/signin", "/api/get_token", "/api/upload_photo", "/api/get_photos",
        "/api/delete_photo",
        "/api/reset_password", "/api/clear_token",
    ]

    /// - Parameter calls: All that are open, with paths as the router has them.
    init(_ calls: [(path: String, method: HTTPRequest.Method)]) {
        var paths: [String: Path] = [:]
        for (path, method) in calls where !Self.original.contains(path) {
            let methods = method == .get ? ["GET", "HEAD"] : [method.rawValue]
            paths[path, default: Path(segments: path.split(separator: "/"), methods: [])].methods.formUnion(methods)
        }
        self.paths = Array(paths.values)
    }

    /// The methods of a path, as the header `Allow` has them; nil where there is no such path.
    ///
    /// - Parameter path: The request's path, without a query.
    /// - Returns: Such as `GET, HEAD`.
    func methods(at path: String) -> String? {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        let found = paths.filter { path in
            path.segments.count == segments.count
                && zip(path.segments, segments).allSatisfy { pattern, segment in
                    pattern.utf8.first == UInt8(ascii: ":") || pattern.utf8.elementsEqual(segment)
                }
        }
        guard !found.isEmpty else { return nil }
        return Set(found.flatMap(\.methods)).sorted().joined(separator: ", ")
    }
}
