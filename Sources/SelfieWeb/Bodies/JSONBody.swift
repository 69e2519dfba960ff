import Hummingbird
import JSON
import NIOCore

/// Reads bodies that are one JSON value, for calls that take nothing else.
enum JSONBody {
    /// Reads the whole body.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is consumed.
    ///   - context: Its connection, which asks a waiting client for the body.
    ///   - maxBytes: The most bytes that the body may have.
    /// - Returns: The value. Its texts may have U+0000, which PostgreSQL's text can't hold.
    /// - Throws: `ServiceError.jsonRequired` for another media type, `.bodyTooLarge`, `.malformedJSON`, `.unfitName`, or
    ///   what the connection throws.
    static func read(
        from request: Request,
        context: some ConnectionContext,
        maxBytes: Int
    ) async throws -> JSONValue {
        guard MediaType.isJSON(request.head) else { throw ServiceError.jsonRequired }
        let body = try await request.collectedBody(maxBytes: maxBytes, context: context)
        do throws(JSONError) {
            return try JSONValue.parse(body.readableBytesView)
        } catch {
            throw ServiceError(error)
        }
    }

    static let mediaType = "application/json"
}
