import NIOHTTP1

/// The parts of a request that are signed.
struct UnsignedRequest: Sendable {
    /// The method, in upper case.
    var method: String
    /// The path exactly as it is sent: percent-encoded once, never normalised.
    var encodedPath: String
    /// The query, not encoded, in any order.
    var query: [QueryItem] = []
    /// The headers to sign, `Host` among them, in any order and case.
    var headers: HTTPHeaders
    /// The body's SHA-256 as 64 lower-case hexadecimal digits; ``emptyPayloadHash`` without a body.
    var payloadHash = UnsignedRequest.emptyPayloadHash

    /// The SHA-256 of no bytes, which every request without a body carries.
    static let emptyPayloadHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Stands for the hash in a presigned URL, because its maker does not see the body.
    static let unsignedPayload = "UNSIGNED-PAYLOAD"
}
