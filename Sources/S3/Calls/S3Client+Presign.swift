package import Foundation
import NIOHTTP1

extension S3Client {
    /// Makes a URL that fetches an object, or with HEAD what is known of it, without keys, until it expires.
    ///
    /// Nothing is sent. Who has the URL has the object: not for logs. Signed with temporary keys, it ends with them,
    /// whatever its expiry says.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8; the object need not exist.
    ///   - seconds: how long from the date on, 1 to ``Signer/maxExpirySeconds``.
    ///   - date: the signing date by our clock; the same date gives the same URL while keys, region and clock stay.
    ///   - isHead: whether it is for HEAD; the signature covers the method, and each is refused with the other's.
    ///   - headers: what the store is to answer with in place of the object's own.
    /// - Returns: the URL, and when it ends by our clock.
    /// - Throws: ``S3Error/invalidArgument(_:)``, ``S3Error/noCredentials(_:)``.
    package func presignedGet(
        key: String,
        expires seconds: Int,
        at date: Date,
        isHead: Bool = false,
        answering headers: S3AnswerHeaders = S3AnswerHeaders()
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

/// Headers that a store is asked to answer a presigned request with, in place of the object's own.
///
/// Source: AWS, "GetObject", request parameters.
package struct S3AnswerHeaders: Sendable, Hashable {
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
