package import FoundationEssentials
import NIOHTTP1

extension S3Client {
    /// Makes a URL for GET or HEAD of an object.
    ///
    /// It works without keys until it expires.
    ///
    /// Nothing is sent. Anyone with the URL can get the object, so never log it. A URL signed with temporary keys ends
    /// with them at the latest.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8; the object need not exist.
    ///   - seconds: how long from the date on, 1 to ``Signer/maxExpirySeconds``.
    ///   - date: the signing date by our clock. The same date gives the same URL while keys, region and clock stay the
    ///     same.
    ///   - isHead: whether it is for HEAD. The signature covers the method, so a URL works for one method only.
    ///   - headers: headers that the store answers with instead of the object's own.
    /// - Returns: the URL, and when it ends by our clock.
    /// - Throws: ``S3Error/invalidArgument(_:)``, ``S3Error/noCredentials(_:)``.
    package func presignedGet(
        key: String,
        expires seconds: Int,
        at date: Date,
        isHead: Bool = false,
        answering headers: AnswerHeaders = AnswerHeaders()
    ) async throws(S3Error) -> (url: String, end: Date) {
        try Self.check(key: key)
        guard (1...Signer.maxExpirySeconds).contains(seconds) else { throw .invalidArgument(.expiry) }
        let signing = try await signing()
        let path = signing.configuration.encodedPath(key: key)
        let request = UnsignedRequest(
            method: isHead ? "HEAD" : "GET",
            encodedPath: path,
            query: headers.query,
            headers: ["Host": signing.configuration.host]
        )
        let signed = signing.signer.presign(request, expires: seconds, at: signing.storeDate(of: date))
        let end = date + TimeInterval(seconds)
        return (
            signing.configuration.url(encodedPath: path, encodedQuery: signed.encodedQuery),
            signing.credentials.expiration.map { min($0, end) } ?? end
        )
    }
}

/// Headers for the answer to a presigned request, instead of the object's own.
///
/// Source: AWS, "GetObject", request parameters.
package struct AnswerHeaders: Sendable, Hashable {
    let contentType: String?
    let contentDisposition: String?

    /// - Parameters:
    ///   - contentType: the media type.
    ///   - contentDisposition: as in RFC 6266.
    package init(contentType: String? = nil, contentDisposition: String? = nil) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
    }

    var query: [QueryItem] {
        [
            contentType.map { QueryItem("response-content-type", $0) },
            contentDisposition.map { QueryItem("response-content-disposition", $0) },
        ].compactMap(\.self)
    }
}
