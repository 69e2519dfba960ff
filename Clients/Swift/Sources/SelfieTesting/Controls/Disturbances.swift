import SelfieClient

/// What is to go wrong.
struct Disturbances: Sendable {
    enum Disturbance: Sendable {
        /// The call is made, and its answer does not arrive.
        case loss
        /// The call is not made.
        case refusal(TransportResponse)
    }

    private struct Planned: Sendable {
        let disturbance: Disturbance
        /// The beginning of the paths that are meant, behind `api`; nil for all.
        let path: String?
    }

    var isOffline = false
    private var planned: [Planned] = []

    mutating func plan(_ disturbance: Disturbance, of path: String?) {
        let segments = path?.split(separator: "/", omittingEmptySubsequences: true).drop { $0 == "api" }
        planned.append(Planned(disturbance: disturbance, path: segments?.joined(separator: "/")))
    }

    /// What happens to a request; it happens once.
    ///
    /// - Throws: `TransportError.notConnected`.
    mutating func next(for request: ServiceRequest) throws(TransportError) -> Disturbance? {
        if isOffline { throw .notConnected }
        let path = request.path.drop { $0 == "api" }.joined(separator: "/")
        guard let index = planned.firstIndex(where: { $0.path.map(path.hasPrefix) ?? true }) else { return nil }
        return planned.remove(at: index).disturbance
    }
}
