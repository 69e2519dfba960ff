import NIOHTTP1

/// The headers of an answer about versions.
///
/// Source: AWS, "How S3 Versioning works", and "DeleteObject", response elements.
enum VersionHeaders {
    /// The id of the version that was made, read or deleted; nil where the bucket keeps no versions.
    static func versionID(_ headers: HTTPHeaders) -> String? {
        guard let id = headers.first(name: "x-amz-version-id"), !id.isEmpty, id != nullID else { return nil }
        return id
    }

    /// Whether the bucket keeps versions, or a deletion has hidden those that it kept before.
    static func haveVersion(_ headers: HTTPHeaders) -> Bool {
        versionID(headers) != nil || haveMarker(headers)
    }

    /// Whether a deletion has only hidden the object.
    static func haveMarker(_ headers: HTTPHeaders) -> Bool {
        headers.first(name: "x-amz-delete-marker")?.lowercased() == "true"
    }

    /// The id of an object that was stored while the bucket kept no versions.
    private static let nullID = "null"
}
