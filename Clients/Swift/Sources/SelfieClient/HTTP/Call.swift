import Foundation

/// A call of the API.
struct Call: Sendable {
    enum Authentication: Sendable {
        /// By the app's own credential.
        case app
        /// By the present session. The call stays with its user, also when it is tried again.
        case user
        /// By the present session, if it is that of the user with this id.
        case userWithID(String)
        /// By a session that may have ended since.
        case session(Session)
        /// By what is in the URL.
        case none
    }

    var method: String
    var url: URL
    var headers: [String: String] = [:]
    var body: TransportRequest.Body = .none
    var authentication: Authentication = .user
    /// Whether the call may be sent again when it is not known if the service has seen it.
    var isRepeatable: Bool
    /// Whether a problem is returned at once: who calls tries again by itself.
    var isTriedOnce = false
    /// Looks, before another try, whether an earlier one has done it: then this gives the answer.
    var findDone: (@Sendable () async throws -> TransportResponse?)?
    /// Names an upload that may go on while the app does not run.
    var backgroundID: String?
    var timeout: Duration?
    var maxAnswerBytes = 64 << 20
    /// Where the answer's body goes, instead of into memory.
    var answerFile: URL?
    /// The statuses that are no error, beside 200.
    var alsoAccepts: Set<Int> = []
    var followsRedirects = false

    init(_ method: String, _ url: URL) {
        (self.method, self.url) = (method, url)
        isRepeatable = ["GET", "HEAD", "PUT", "DELETE"].contains(method)
    }

    /// Sends a JSON body.
    mutating func send(_ value: some Encodable) throws {
        body = .data(try JSONCoding.encode(value))
        headers["Content-Type"] = "application/json"
    }
}
