import Curl
import NIOCore
import NIOHTTP1

/// One request in S3's terms, not signed yet.
///
/// Each attempt makes an HTTP request of it.
struct S3Request: Sendable {
    var method: HTTPMethod
    /// The object; nil for the bucket itself.
    var key: String?
    var query: [QueryItem] = []
    /// All of them are signed.
    var headers: HTTPHeaders = [:]
    var body: S3Body?

    /// Asks for at most one object's name.
    ///
    /// The answer is a document and costs little.
    static var question: S3Request {
        S3Request(method: .GET, query: [QueryItem("list-type", "2"), QueryItem("max-keys", "1")])
    }
}

extension CurlRequest {
    /// One attempt's request.
    ///
    /// Its body is read again, and its URL is spelled exactly as signed.
    init(_ request: S3Request, signed: SignedRequest, configuration: S3Configuration) {
        let path = configuration.encodedPath(key: request.key)
        self.init(url: configuration.url(encodedPath: path, encodedQuery: signed.encodedQuery))
        method = request.method
        headers = signed.headers
        // Not signed, because some proxies rewrite it. Without it, compression by a proxy loses Content-Length.
        headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        body = request.body.map { .stream(length: $0.length, UploadBody(body: $0)) }
    }
}
