import Encodings
package import FoundationEssentials

/// A page of a bucket's versions and markers.
package struct S3VersionPage: Sendable, Hashable {
    /// A version of an object, or a marker that hides older ones.
    package struct Entry: Sendable, Hashable {
        /// The object's key.
        package let key: String
        /// `null` for an object that was stored while the bucket kept no versions.
        package let versionID: String
        /// Whether it is an object that can be got without the id.
        package let isCurrent: Bool
        /// When it was made.
        package let lastModified: Date
    }

    /// Where a page begins.
    package struct Marker: Sendable, Hashable {
        let key: String
        let versionID: String
    }

    /// At most a thousand; those of one object stand together.
    package let entries: [Entry]
    /// Where the next page begins; nil at the end.
    package let next: Marker?
}

extension S3VersionPage {
    /// Reads a `ListVersionsResult`.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        entries = try document.children.filter { ["Version", "DeleteMarker"].contains($0.name) }
            .map { element throws(S3NoAnswer) in
                guard let key = decoding.key(element["Key"]), let versionID = element["VersionId"], !versionID.isEmpty,
                    let lastModified = element["LastModified"].flatMap(ISO8601.date)
                else { throw .malformed }
                let isCurrent = element.name == "Version" && element["IsLatest"]?.lowercased() == "true"
                return Entry(key: key, versionID: versionID, isCurrent: isCurrent, lastModified: lastModified)
            }
        next = try decoding.next("NextKeyMarker").map { _ throws(S3NoAnswer) in
            guard let key = decoding.key(document["NextKeyMarker"]) else { throw .malformed }
            return Marker(key: key, versionID: document["NextVersionIdMarker"] ?? "")
        }
    }
}
