/// A call that the service has received.
public struct ServiceCall: Sendable, Hashable {
    /// Such as `GET`.
    public let method: String
    /// Such as `/api/records/notes`, without the query.
    public let path: String
    /// The HTTP status; nil if the client did not get the answer.
    public let status: Int?

    init(_ request: ServiceRequest, status: Int?) {
        (method, self.status) = (request.method, status)
        path = "/" + request.path.joined(separator: "/")
    }
}
