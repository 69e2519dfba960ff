import Encodings
package import FoundationEssentials

/// A page of a bucket's objects.
package struct S3ObjectPage: Sendable, Hashable {
    /// An object as the list shows it.
    package struct Entry: Sendable, Hashable {
        /// The object's key.
        package let key: String
        /// In bytes.
        package let length: Int
        /// Without quotation marks; not always an MD5.
        package let tag: String
        /// When it was put.
        package let lastModified: Date
    }

    /// At most a thousand.
    package let entries: [Entry]
    /// Where the next page begins; nil at the end.
    package let next: String?
}

extension S3ObjectPage {
    /// Reads a `ListBucketResult`.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        var entries: [Entry] = []
        for element in document.all("Contents") {
            guard let key = decoding.key(element["Key"]), let length = element["Size"].flatMap({ Int($0) }),
                let lastModified = element["LastModified"].flatMap(ISO8601.date)
            else { throw .malformed }
            let tag = EntityTag(text: element["ETag"] ?? "", isOfCiphertext: false).value
            entries.append(Entry(key: key, length: length, tag: tag, lastModified: lastModified))
        }
        self.entries = entries
        next = try decoding.next("NextContinuationToken")
    }
}
