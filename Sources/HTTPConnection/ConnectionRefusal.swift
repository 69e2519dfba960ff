package import HTTPTypes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Why a connection itself refuses a request, instead of the request's handler.
package enum ConnectionRefusal: Sendable {
    /// What arrived is not HTTP.
    case malformedRequest
    /// The header is over ``ConnectionLimits/maxHeaderBytes``, or has too many fields.
    case headerTooLarge
    /// The request took too long to arrive.
    case requestTooSlow
    /// The handler took longer than ``ConnectionLimits/answerTimeout``.
    case handlerTooSlow
}

/// A request that a connection refuses.
package struct RefusedRequest: Sendable {
    package let refusal: ConnectionRefusal
    /// Its id in the answer and in logs.
    package let requestID: String
    /// Its method; nil for a request whose head never came.
    package let method: HTTPRequest.Method?
    /// The time since its first byte, or that of its handler.
    package let duration: TimeAmount
    /// The other end of the connection.
    package let peer: SocketAddress?
}

/// A request stopped arriving, or arrives too slowly.
///
/// The reader of its body gets this error.
package struct SlowRequestError: Error {}

/// The answer that refuses a request.
///
/// The connection adds its length, the request's id and `Connection: close`.
package struct RefusalAnswer: Sendable {
    package let status: HTTPResponse.Status
    /// Without the fields that the connection adds.
    package let headers: HTTPFields
    /// The body's media type.
    package let contentType: String
    package let body: ByteBuffer

    /// - Parameters:
    ///   - status: The answer's status.
    ///   - headers: Its header, without the fields that the connection adds.
    ///   - contentType: The body's media type.
    ///   - body: Its body. A HEAD request does not get it.
    package init(status: HTTPResponse.Status, headers: HTTPFields, contentType: String, body: ByteBuffer) {
        self.status = status
        self.headers = headers
        self.contentType = contentType
        self.body = body
    }

    /// The answer's head as it is sent.
    func head(requestID: String) -> HTTPResponseHead {
        var fields: HTTPHeaders = [
            "content-type": contentType,
            "content-length": String(body.readableBytes),
            "x-content-type-options": "nosniff",
            "x-request-id": requestID,
            "connection": "close",
        ]
        fields.add(contentsOf: HTTPHeaders(headers))
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: Int(status.code)),
            headers: fields
        )
    }
}
