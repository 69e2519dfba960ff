/// The facts about a photo that its answer needs.
package struct ServedPhoto: Sendable {
    package let randomID: String
    /// Names the photo's object in the store.
    ///
    /// Each has its own bytes, which never change.
    package let objectKey: String
    /// The client's name for the file: a label only.
    package let fileName: String
    /// Nil for a photo that railsauth stored.
    package let contentType: String?
    /// Nil for a photo that railsauth stored.
    package let byteCount: Int?
    /// In seconds since 1970; nil when it is not known.
    package let createdAt: Int?
    /// The number of the owner's present series of photos' URLs.
    package let urlSeries: Int

    /// The media type of files that are no photos, which railsauth accepted.
    package static let unknownContentType = "application/octet-stream"

    /// The same photo with the facts of its object.
    func with(_ facts: PhotoFacts) -> ServedPhoto {
        ServedPhoto(
            randomID: randomID,
            objectKey: objectKey,
            fileName: fileName,
            contentType: contentType ?? facts.contentType,
            byteCount: byteCount ?? facts.byteCount,
            createdAt: createdAt,
            urlSeries: urlSeries
        )
    }
}
