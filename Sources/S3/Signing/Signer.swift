import FoundationEssentials
import NIOHTTP1

/// Signs requests to S3 with AWS Signature Version 4.
///
/// It does no I/O; the date is an argument.
///
/// Sources: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" and
/// "Authenticating Requests: Using Query Parameters".
struct Signer: Sendable {
    private let credentials: S3Credentials
    private let region: String

    /// The name of the one algorithm in use.
    static let algorithm = "AWS4-HMAC-SHA256"

    /// The longest validity of a presigned URL: seven days.
    static let maxExpirySeconds = 604_800

    /// Takes the keys and the region that signatures name.
    ///
    /// - Parameters:
    ///   - credentials: the keys.
    ///   - region: the region, such as `eu-west-1`.
    init(credentials: S3Credentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// Signs in the header form: adds `x-amz-date`, `x-amz-content-sha256`, perhaps `x-amz-security-token`, and
    /// `Authorization` over all headers.
    ///
    /// - Parameters:
    ///   - request: the request, with its `Host` header.
    ///   - date: the signing date; the store accepts 15 minutes to either side of its own.
    /// - Returns: the request's headers and query as they must be sent.
    func sign(_ request: UnsignedRequest, at date: Date) -> SignedRequest {
        let time = SigningTime(date)
        var request = request
        request.headers.replaceOrAdd(name: "x-amz-date", value: time.timestamp)
        request.headers.replaceOrAdd(name: "x-amz-content-sha256", value: request.payloadHash)
        if let sessionToken = credentials.sessionToken {
            request.headers.replaceOrAdd(name: "x-amz-security-token", value: sessionToken)
        }
        var signed = signed(request, at: time)
        let credential = "\(credentials.accessKeyID)/\(signed.stringToSign.scope)"
        let signedHeaders = signed.canonicalRequest.signedHeaders
        signed.headers.add(
            name: "Authorization",
            value: "\(Self.algorithm) Credential=\(credential),SignedHeaders=\(signedHeaders),"
                + "Signature=\(signed.signature)"
        )
        return signed
    }

    /// Signs in the query form, for a URL that others can use without keys.
    ///
    /// - Parameters:
    ///   - request: the request; its headers, `Host` among them, must be sent as given. Its payload is not signed.
    ///   - seconds: how long the URL is valid from the date on, 1 to ``maxExpirySeconds``; the caller checks.
    ///   - date: the signing date.
    /// - Returns: the query as it must be sent, signature included.
    func presign(_ request: UnsignedRequest, expires seconds: Int, at date: Date) -> SignedRequest {
        let time = SigningTime(date)
        var request = request
        request.payloadHash = UnsignedRequest.unsignedPayload
        let scope = StringToSign.scope(at: time, region: region)
        request.query += [
            QueryItem("X-Amz-Algorithm", Self.algorithm),
            QueryItem("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope)"),
            QueryItem("X-Amz-Date", time.timestamp),
            QueryItem("X-Amz-Expires", "\(seconds)"),
            QueryItem("X-Amz-SignedHeaders", CanonicalRequest(request).signedHeaders),
        ]
        if let sessionToken = credentials.sessionToken {
            request.query.append(QueryItem("X-Amz-Security-Token", sessionToken))
        }
        var signed = signed(request, at: time)
        signed.encodedQuery += "&X-Amz-Signature=\(signed.signature)"
        return signed
    }

    /// The three steps, with the headers and the query as they are signed.
    private func signed(_ request: UnsignedRequest, at time: SigningTime) -> SignedRequest {
        let canonicalRequest = CanonicalRequest(request)
        let stringToSign = StringToSign(canonicalRequest, at: time, region: region)
        let key = SigningKey(secretAccessKey: credentials.secretAccessKey, day: time.day, region: region)
        return SignedRequest(
            canonicalRequest: canonicalRequest,
            stringToSign: stringToSign,
            signature: key.signature(of: stringToSign),
            headers: request.headers,
            encodedQuery: canonicalRequest.query
        )
    }
}
