import JSON
import SelfiePhotos

extension PhotoRows.Columns {
    /// Adds the contract's members of a photo, then those that came later.
    func writeJSON(to json: inout JSONWriter, urls: PhotoURLWriter) {
        name.withUnsafeBytes { json.member("name", utf8: $0) }
        title.withUnsafeBytes { json.member("title", utf8: $0) }
        randomID.withUnsafeBytes { randomID in
            json.member("image_url") { urls.appendURL(of: randomID, to: &$0) }
            json.member("random_id", utf8: randomID)
        }
        if let createdAt {
            createdAt.withUnsafeBytes { json.member("created_at", utf8: $0) }
        } else {
            json.null("created_at")
        }
        Self.write(byteCount, as: "byte_count", to: &json)
        if let contentType {
            contentType.withUnsafeBytes { json.member("content_type", utf8: $0) }
        } else {
            json.null("content_type")
        }
        Self.write(width, as: "width", to: &json)
        Self.write(height, as: "height", to: &json)
    }

    private static func write(_ digits: ArraySlice<UInt8>?, as name: JSONKey, to json: inout JSONWriter) {
        if let digits {
            digits.withUnsafeBytes { json.member(name, number: $0) }
        } else {
            json.null(name)
        }
    }
}
