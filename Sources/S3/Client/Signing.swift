import FoundationEssentials
import NIOHTTP1

/// The inputs of one attempt's signature.
struct Signing: Sendable {
    let facts: StoreFacts
    let credentials: S3Credentials
    /// Our own time.
    let date: Date

    var configuration: S3Configuration { facts.configuration }

    var signer: Signer { Signer(credentials: credentials, region: configuration.region) }

    /// Our time as a date of the store's clock.
    func storeDate(of date: Date) -> Date { date + facts.clockOffset }

    func sign(_ request: S3Request) -> SignedRequest {
        var headers = request.headers
        headers.add(name: "Host", value: configuration.host)
        let unsigned = UnsignedRequest(
            method: request.method.rawValue,
            encodedPath: configuration.encodedPath(key: request.key),
            query: request.query,
            headers: headers,
            payloadHash: request.body?.sha256Hex ?? UnsignedRequest.emptyPayloadHash
        )
        return signer.sign(unsigned, at: storeDate(of: date))
    }
}
