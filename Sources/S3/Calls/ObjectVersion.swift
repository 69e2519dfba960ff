import Encodings
package import FoundationEssentials

/// A version of an object, or a marker that hides older ones.
package struct ObjectVersion: Sendable, Hashable {
    package let key: String
    /// `null` for an object that was stored while the bucket kept no versions.
    let versionID: String
    /// Whether it is an object that can be got without the id.
    package let isCurrent: Bool
    package let modified: Date
}

extension Page<ObjectVersion, PageMarker> {
    /// Reads a `ListVersionsResult`.
    ///
    /// The versions of one object stand together.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        entries = try document.children.filter { ["Version", "DeleteMarker"].contains($0.name) }
            .map { element throws(S3NoAnswer) in
                guard let key = decoding.key(element["Key"]), let versionID = element["VersionId"], !versionID.isEmpty,
                    let modified = element["LastModified"].flatMap(ISO8601.date)
                else { throw .malformed }
                let isCurrent = element.name == "Version" && element["IsLatest"]?.lowercased() == "true"
                return ObjectVersion(key: key, versionID: versionID, isCurrent: isCurrent, modified: modified)
            }
        next = try decoding.next("NextKeyMarker").map { _ throws(S3NoAnswer) in
            guard let key = decoding.key(document["NextKeyMarker"]) else { throw .malformed }
            return PageMarker(key: key, id: document["NextVersionIdMarker"] ?? "")
        }
    }
}
