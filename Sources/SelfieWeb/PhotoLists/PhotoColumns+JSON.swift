import Encodings
import SelfieCore

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
        if let byteCount {
            byteCount.withUnsafeBytes { json.member("byte_count", number: $0) }
        } else {
            json.null("byte_count")
        }
        if let contentType {
            contentType.withUnsafeBytes { json.member("content_type", utf8: $0) }
        } else {
            json.null("content_type")
        }
    }
}
