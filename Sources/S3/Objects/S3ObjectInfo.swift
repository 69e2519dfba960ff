import Encodings
package import FoundationEssentials
import NIOHTTP1

/// What the store says about an object besides its bytes.
package struct S3ObjectInfo: Sendable, Hashable {
    /// The number of bytes: of the object, or of the part that was asked for.
    package let contentLength: Int
    /// As given when it was put.
    package let contentType: String?
    /// The entity tag with its quotation marks; not always an MD5.
    package let etag: String?
    let tag: EntityTag?
    let versionID: String?
    /// In whole seconds.
    package let lastModified: Date?
    /// The range of the bytes, such as `bytes 0-9/443`; nil for the whole object.
    package let contentRange: String?

    /// Reads the head of an answer.
    init(_ headers: HTTPHeaders) throws(S3NoAnswer) {
        guard let length = headers.first(name: "content-length").flatMap({ Int($0) }), length >= 0 else {
            throw .malformed
        }
        contentLength = length
        contentType = headers.first(name: "content-type")
        etag = headers.first(name: "etag")
        tag = EntityTag(headers)
        versionID = VersionHeaders.versionID(headers)
        lastModified = headers.first(name: "last-modified").flatMap(HTTPDate.date(of:))
        contentRange = headers.first(name: "content-range")
    }
}
