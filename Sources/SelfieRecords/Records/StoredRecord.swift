/// A record, as its reader sees it.
package struct StoredRecord: Sendable {
    package let id: String
    package let collection: String
    /// As JSON.
    package let data: String
    /// The owner's id as a member.
    package let owner: String
    /// The ids of its readers; nil for a reader who may not share it.
    package let readers: [String]?
    /// The ids of its writers, who are also readers.
    package let writers: [String]?
    /// From 1, one more with each change.
    package let version: Int
    /// Such as `2026-11-24T10:00:00.000Z`.
    package let createdAt: String
    package let updatedAt: String
    package let expiresAt: String?
    /// The fields with existing photos.
    package let photos: [PhotoField]

    /// A field that is a photo.
    package struct PhotoField: Sendable {
        package let field: String
        /// Whether the field is an array, which may have more.
        package let isElement: Bool
        package let randomID: String
        /// The number of its owner's present series of URLs.
        package let urlSeries: Int
    }
}
