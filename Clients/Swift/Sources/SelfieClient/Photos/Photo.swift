public import Foundation

/// One of the user's photos.
public struct Photo: Sendable, Hashable, Identifiable {
    /// The `random_id`: at least 41 letters and digits.
    public let id: String
    /// The file's name at its upload.
    public let name: String
    public let title: String
    /// Where its bytes are; for an upload with `isListed: false` only until the URL ends.
    public let link: PhotoLink
    public let createdAt: Date?
    public let byteCount: Int?
    /// Such as `image/jpeg`.
    public let contentType: String?
    /// In pixels, upright.
    public let width: Int?
    /// In pixels, upright.
    public let height: Int?
}

extension Photo: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id = "random_id"
        case name, title, width, height
        case url = "image_url"
        case createdAt = "created_at"
        case byteCount = "byte_count"
        case contentType = "content_type"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        title = try container.decode(String.self, forKey: .title)
        link = PhotoLink(try container.decode(URL.self, forKey: .url), .ownPhoto)
        createdAt = try container.decodeIfPresent(Date.self, forKey: .createdAt)
        byteCount = try container.decodeIfPresent(Int.self, forKey: .byteCount)
        contentType = try container.decodeIfPresent(String.self, forKey: .contentType)
        width = try container.decodeIfPresent(Int.self, forKey: .width)
        height = try container.decodeIfPresent(Int.self, forKey: .height)
    }
}
