import Encodings
package import FoundationEssentials

/// A page of the uploads in parts that were neither completed nor aborted.
package struct S3UploadPage: Sendable, Hashable {
    /// An upload that is not complete.
    package struct Entry: Sendable, Hashable {
        /// The key of the object that it would become.
        package let key: String
        /// The key in the spelling that the store should not have used; nil if that is the same.
        ///
        /// Ceph encodes keys without saying so. LocalStack says so without encoding them.
        package let otherKey: String?
        /// Differs between uploads of the same key.
        package let uploadID: String
        /// When it was begun.
        package let initiated: Date
    }

    /// Where a page begins.
    package struct Marker: Sendable, Hashable {
        let key: String
        let uploadID: String
    }

    /// At most a thousand.
    package let entries: [Entry]
    /// Where the next page begins; nil at the end.
    package let next: Marker?
}

extension S3UploadPage {
    /// Reads a `ListMultipartUploadsResult`.
    init(_ document: DocumentElement) throws(S3NoAnswer) {
        let decoding = ListDecoding(document)
        var entries: [Entry] = []
        for element in document.all("Upload") {
            guard let key = decoding.key(element["Key"]), let uploadID = element["UploadId"],
                let initiated = element["Initiated"].flatMap(ISO8601.date)
            else { throw .malformed }
            let otherKey = decoding.otherKey(element["Key"])
            entries.append(
                Entry(
                    key: key,
                    otherKey: otherKey == key ? nil : otherKey,
                    uploadID: uploadID,
                    initiated: initiated
                )
            )
        }
        self.entries = entries
        next = try decoding.next("NextUploadIdMarker").map { uploadID throws(S3NoAnswer) in
            guard let key = decoding.key(document["NextKeyMarker"]) else { throw .malformed }
            return Marker(key: key, uploadID: uploadID)
        }
    }
}
