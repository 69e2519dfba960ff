public import Foundation

/// What carries requests to the service.
///
/// Apps use ``URLSessionTransport``. Their tests may use one of their own, or `InMemoryService` of `SelfieTesting`.
public protocol Transport: Sendable {
    /// Sends a request and reads the whole answer.
    ///
    /// It follows redirects only if the request allows it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: Called with the number of bytes of the body that were sent so far; may be called on any thread.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``TransportError``, or `CancellationError` when the task was cancelled.
    func send(_ request: TransportRequest, progress: (@Sendable (_ sentBytes: Int64) -> Void)?) async throws
        -> TransportResponse
}

/// A request to the service.
public struct TransportRequest: Sendable {
    /// The body of a request.
    public enum Body: Sendable {
        case none
        case data(Data)
        /// A file that is sent as it is.
        case file(URL)
    }

    /// Such as `GET`.
    public var method: String
    public var url: URL
    /// The header's fields by name.
    public var headers: [String: String]
    public var body: Body
    /// Names an upload of a file that may go on while the app does not run.
    ///
    /// A request with the same name joins the one that is under way. Nil for all other requests.
    public var backgroundID: String?
    /// How long the service may be silent.
    public var timeout: Duration
    /// The most bytes that the answer's body may have; beyond that the request fails.
    public var maxAnswerBytes: Int
    /// Where the body of an answer with the status 200 is written, instead of into memory.
    ///
    /// The file must not exist.
    public var answerFile: URL?
    /// Whether a redirect is followed.
    ///
    /// Requests with a token follow none, so that no other host gets the token.
    public var followsRedirects: Bool

    public init(
        method: String,
        url: URL,
        headers: [String: String] = [:],
        body: Body = .none,
        timeout: Duration = .seconds(30),
        maxAnswerBytes: Int = 64 << 20,
        followsRedirects: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.timeout, self.maxAnswerBytes, self.followsRedirects) = (timeout, maxAnswerBytes, followsRedirects)
    }
}

extension TransportRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the names of the header's fields: their values and the URL have secrets.
    public var description: String { "\(method) request with \(headers.keys.sorted().joined(separator: ", "))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The service's answer to a request.
public struct TransportResponse: Sendable {
    public var status: Int
    /// The header's fields; names are in lower case.
    public var headers: [String: String]
    public var body: Data

    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: Fields by name, in any case.
    ///   - body: The whole body.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { $1 }
        self.body = body
    }
}

/// Why a request got no answer.
public enum TransportError: Error, Sendable, Hashable {
    /// No connection was made, so the service has not seen the request.
    case notConnected
    /// The connection ended, or the service was silent for too long. It may have seen the request.
    case interrupted
    /// The certificate is not valid, or not for this host.
    case notSecure
    /// The answer has more bytes than the request allows.
    case tooLarge
    /// The file to send can't be read.
    case unreadableBody
    /// The answer can't be written into its file.
    case unwritableAnswer
}
