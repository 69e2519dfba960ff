import HTTPTypes
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension HTTPRequest {
    /// A request as a connection received it.
    ///
    /// NIO's own conversion parses every URL with Foundation to look for a scheme. A URL that begins with a slash has
    /// none.
    init(received head: HTTPRequestHead) throws {
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            self = try HTTPRequest(head, secure: false, splitCookie: false)
            return
        }
        self.init(
            method: try Method(head.method),
            scheme: "http",
            authority: head.headers.first(name: "host"),
            path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false)
        )
    }
}
