import NIOHTTP1

/// A signature, the steps that led to it, and what is sent.
///
/// It holds no secret key. But anyone who reads it can send the request until it expires, so never log it.
struct SignedRequest: Sendable {
    /// Step 1, as signed.
    let canonicalRequest: CanonicalRequest
    /// Step 2, as signed.
    let stringToSign: StringToSign
    /// Step 3: 64 lower-case hexadecimal digits.
    let signature: String
    /// The headers to send: the ones given and, in the header form, those that signing added.
    var headers: HTTPHeaders
    /// The query to send, encoded, without a question mark; in the presigned form with its signature.
    var encodedQuery: String
}
