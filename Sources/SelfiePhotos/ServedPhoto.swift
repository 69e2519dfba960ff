import Postgres

/// The facts about a photo, or about a small picture of it, that its answer needs.
package struct ServedPhoto: Sendable {
    package let randomID: String
    /// Names the object in the store.
    package private(set) var objectKey: String
    /// Another one for other bytes.
    package private(set) var tag: String
    /// The client's name for the file: a label only.
    package let fileName: String
    /// Nil for a photo that railsauth stored.
    package private(set) var contentType: String?
    /// Nil for a photo that railsauth stored.
    package private(set) var byteCount: Int?
    /// When its bytes were stored, in seconds since 1970; nil when that is not known.
    package private(set) var createdAt: Int?
    /// The number of the owner's present series of photos' URLs.
    package let urlSeries: Int

    /// The media type of files that are no photos, which railsauth accepted.
    package static let unknownContentType = "application/octet-stream"

    init(
        randomID: String,
        objectKey: String,
        tag: String,
        fileName: String,
        contentType: String?,
        byteCount: Int?,
        createdAt: Int?,
        urlSeries: Int
    ) {
        self.randomID = randomID
        self.objectKey = objectKey
        self.tag = tag
        self.fileName = fileName
        self.contentType = contentType
        self.byteCount = byteCount
        self.createdAt = createdAt
        self.urlSeries = urlSeries
    }

    /// The same photo with the facts of its object.
    func with(_ facts: PhotoFacts) -> ServedPhoto {
        var photo = self
        photo.contentType = contentType ?? facts.contentType
        photo.byteCount = byteCount ?? facts.byteCount
        return photo
    }

    /// The same photo without the time of its bytes, for a URL that has other bytes later.
    package var withoutTime: ServedPhoto {
        var photo = self
        photo.createdAt = nil
        return photo
    }

    /// The small picture of the photo that is there, with the columns `rendition_…`.
    func replaced(byRendition row: PostgresRow) throws -> ServedPhoto {
        var photo = withoutTime
        photo.objectKey = try row.decode("rendition_key")
        photo.tag = try row.decode("rendition_digest")
        photo.contentType = try row.decode("rendition_type", as: String.self)
        photo.byteCount = try row.decode("rendition_bytes", as: Int.self)
        return photo
    }
}
