import Encodings
package import Foundation
import NIOCore

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

/// A page of the uploads in parts that were neither completed nor aborted.
package struct S3UploadPage: Sendable, Hashable {
    /// An upload that is not complete.
    package struct Entry: Sendable, Hashable {
        /// The key of the object that it would become.
        package let key: String
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
            entries.append(Entry(key: key, uploadID: uploadID, initiated: initiated))
        }
        self.entries = entries
        next = try decoding.next("NextUploadIdMarker").map { uploadID throws(S3NoAnswer) in
            guard let key = decoding.key(document["NextKeyMarker"]) else { throw .malformed }
            return Marker(key: key, uploadID: uploadID)
        }
    }
}

/// How a list spells its values.
private struct ListDecoding {
    let document: DocumentElement
    private let encodesKeys: Bool

    init(_ document: DocumentElement) {
        self.document = document
        encodesKeys = document["EncodingType"]?.lowercased() == "url"
    }

    /// A key.
    ///
    /// If the store did as asked, it is URL-encoded, since XML can't hold every character.
    ///
    /// Source: AWS, "ListObjectsV2", parameter `encoding-type`; it encodes a space as `+`, as forms do.
    func key(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard encodesKeys else { return text }
        let bytes = PercentEncoding.bytes(of: text.utf8, plusIsSpace: true)
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The marker of the next page; nil at the end.
    ///
    /// - Throws: ``S3NoAnswer/malformed`` for a list that is cut and does not say how to go on. Its other objects must
    ///   not count as missing.
    func next(_ name: String) throws(S3NoAnswer) -> String? {
        guard document["IsTruncated"]?.lowercased() == "true" else { return nil }
        guard let marker = document[name], !marker.isEmpty else { throw .malformed }
        return marker
    }

}
