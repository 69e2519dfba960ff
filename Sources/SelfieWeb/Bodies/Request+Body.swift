import HTTPConnection
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The body, for a handler that will read it.
    ///
    /// A body that announces too many bytes is refused. A client that waits for `100 Continue` gets it.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes that the body may announce.
    ///   - context: The connection.
    ///   - tooLarge: The refusal of a body that announces more; nil for the one that names `maxBytes`.
    /// - Returns: The body, which can be read once.
    /// - Throws: `ServiceError.bodyTooLarge`.
    func wantedBody(
        maxBytes: Int,
        context: some ConnectionContext,
        otherwise tooLarge: ServiceError? = nil
    ) throws(ServiceError) -> RequestBody {
        // A length that does not fit an `Int` is too large.
        if let length = headers[.contentLength], Int(length) ?? .max > maxBytes {
            throw tooLarge ?? .bodyTooLarge(maxBytes: maxBytes)
        }
        if headers[.expect] != nil {
            context.channel.triggerUserOutboundEvent(ContinueEvent(), promise: nil)
        }
        return body
    }

    /// The whole body, if it is not too large.
    func collectedBody(maxBytes: Int, context: some ConnectionContext) async throws -> ByteBuffer {
        var collected = ByteBuffer()
        for try await chunk in try wantedBody(maxBytes: maxBytes, context: context) {
            guard collected.readableBytes + chunk.readableBytes <= maxBytes else {
                throw ServiceError.bodyTooLarge(maxBytes: maxBytes)
            }
            collected.writeImmutableBuffer(chunk)
        }
        return collected
    }
}
