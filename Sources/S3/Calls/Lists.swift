import Encodings
package import FoundationEssentials

/// A page of a list.
package struct Page<Entry: Sendable, Marker: Sendable>: Sendable {
    /// At most a thousand.
    package let entries: [Entry]
    /// Where the next page begins; nil at the end.
    package let next: Marker?
}

/// Where a page of unfinished puts, or of versions, begins.
package struct PageMarker: Sendable, Hashable {
    let key: String
    /// Of the upload, or of the version.
    let id: String
}

/// An object as a store lists it.
package struct ObjectEntry: Sendable, Hashable {
    package let key: String
    /// In bytes.
    package let length: Int
    package let modified: Date

    package init(key: String, length: Int, modified: Date) {
        (self.key, self.length, self.modified) = (key, length, modified)
    }
}

/// A put that may still be under way, or was left behind by a crash.
///
/// In a bucket it is an upload in parts.
package struct UnfinishedPut: Sendable, Hashable {
    /// The key of the object to be.
    ///
    /// On disk it is the file's name, because the file does not hold the key.
    package let key: String
    /// The key in the spelling that the store should not have used; nil if that is the same.
    ///
    /// Ceph encodes keys without saying so. LocalStack says so without encoding them.
    let otherKey: String?
    /// Differs between puts of the same key.
    package let id: String
    package let begun: Date

    package init(key: String, otherKey: String? = nil, id: String, begun: Date) {
        (self.key, self.otherKey, self.id, self.begun) = (key, otherKey, id, begun)
    }

    /// The possible forms of its key.
    package var spellings: [String] { [key, otherKey].compactMap(\.self) }
}

/// A version of an object, or a marker that hides older ones.
package struct ObjectVersion: Sendable, Hashable {
    package let key: String
    /// `null` for an object that was stored while the bucket kept no versions.
    let versionID: String
    /// Whether it is an object that can be got without the id.
    package let isCurrent: Bool
    package let modified: Date
}

extension Page<ObjectEntry, String> {
    /// Reads a `ListBucketResult`.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        entries = try document.all("Contents").map { element throws(S3NoAnswer) in
            guard let key = decoding.key(element["Key"]), let length = element["Size"].flatMap({ Int($0) }),
                let modified = element["LastModified"].flatMap(ISO8601.date)
            else { throw .malformed }
            return ObjectEntry(key: key, length: length, modified: modified)
        }
        next = try decoding.next("NextContinuationToken")
    }
}

extension Page<UnfinishedPut, PageMarker> {
    /// Reads a `ListMultipartUploadsResult`.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        entries = try document.all("Upload").map { element throws(S3NoAnswer) in
            guard let key = decoding.key(element["Key"]), let id = element["UploadId"],
                let begun = element["Initiated"].flatMap(ISO8601.date)
            else { throw .malformed }
            let otherKey = decoding.otherKey(element["Key"])
            return UnfinishedPut(key: key, otherKey: otherKey == key ? nil : otherKey, id: id, begun: begun)
        }
        next = try decoding.next("NextUploadIdMarker").map { id throws(S3NoAnswer) in
            guard let key = decoding.key(document["NextKeyMarker"]) else { throw .malformed }
            return PageMarker(key: key, id: id)
        }
    }
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
