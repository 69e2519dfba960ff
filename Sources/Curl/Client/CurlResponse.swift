package import NIOCore
package import NIOHTTP1

/// An answer whose head has come.
package struct CurlResponse: Sendable {
    package let status: HTTPResponseStatus
    package let headers: HTTPHeaders
    /// The bytes, which can be read once.
    ///
    /// Dropping them unread ends the transfer, and its connection.
    package let body: ResponseBody
}

/// An answer that has come as a whole.
package struct CurlAnswer: Sendable {
    package let status: HTTPResponseStatus
    package let headers: HTTPHeaders
    package let body: ByteBuffer
}
