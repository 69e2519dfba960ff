import Encodings
package import FoundationEssentials

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
