package import Foundation
import NIOHTTP1

extension S3Client {
    /// Makes a URL that fetches an object without keys, until it expires.
    ///
    /// Nothing is sent. Who has the URL has the object: not for logs. Signed with temporary keys, it ends with them,
    /// whatever its expiry says.
    ///
    /// - Parameters:
    ///   - key: 1 to ``keyBytesMax`` bytes of UTF-8; the object need not exist.
    ///   - seconds: how long from the date on, 1 to ``Signer/expirySecondsMax``.
    ///   - date: the signing date; the same date gives the same URL.
    /// - Returns: the URL.
    /// - Throws: ``S3Error/invalidArgument(_:)``.
    package func presignedGet(key: String, expires seconds: Int, at date: Date) throws(S3Error) -> String {
        try Self.check(key: key)
        guard (1...Signer.expirySecondsMax).contains(seconds) else { throw .invalidArgument(.expiry) }
        let path = configuration.encodedPath(key: key)
        let request = UnsignedRequest(method: "GET", encodedPath: path, headers: ["Host": configuration.host])
        let signed = signer.presign(request, expires: seconds, at: date)
        return configuration.url(encodedPath: path, encodedQuery: signed.encodedQuery)
    }
}
