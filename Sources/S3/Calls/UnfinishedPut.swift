import Encodings
package import FoundationEssentials

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
