package import NIOHTTP1

/// The head of an answer.
package struct ResponseHead: Sendable, Equatable {
    package var status: HTTPResponseStatus
    package var headers: HTTPHeaders
}
