import NIOCore

@testable import S3

extension FuzzTarget {
    /// A store's document is read or refused, and what is kept of an error is short and without control characters.
    static func readXML(_ bytes: [UInt8]) throws {
        let buffer = ByteBuffer(bytes: bytes)
        let error = ErrorDocument(buffer)
        for field in [error.code, error.message, error.requestID, error.region].compactMap(\.self) {
            try require(field.count <= 300, "a field no longer than allowed")
            try require(
                field.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
                "no control characters"
            )
        }
        if let list = try? DocumentElement.read(buffer, root: "ListBucket"),
            let page = try? Page<ObjectEntry, String>(list)
        {
            try require(page.entries.allSatisfy { !$0.key.isEmpty }, "keys that name something")
            try require(page.next?.isEmpty != true, "a marker that leads on")
        }
        if let list = try? DocumentElement.read(buffer, root: "ListMultipart") {
            _ = try? Page<UnfinishedPut, PageMarker>(list)
        }
    }
}
