import Glibc

/// What the row of a photo says to whoever gets its bytes.
struct ServedPhoto: Sendable {
    let randomID: String
    /// As a client named the file: a label only.
    let fileName: String
    /// Nil for a photo that railsauth stored.
    let contentType: String?
    /// Nil for a photo that railsauth stored.
    let byteCount: Int?
    /// Its tag is its id, since its bytes never change.
    let preconditions: Preconditions

    /// What the store is to call it; nil for a photo that railsauth stored, of whose type the store knows more.
    var label: PublicLabel? {
        contentType.map { contentType in
            PublicLabel(
                contentType: contentType,
                contentDisposition: ContentDisposition.inline(
                    fileName: fileName,
                    format: PhotoFormat(rawValue: contentType)
                )
            )
        }
    }

    init(randomID: String, fileName: String, contentType: String?, byteCount: Int?, createdAt: time_t?) {
        self.randomID = randomID
        self.fileName = fileName
        self.contentType = contentType
        self.byteCount = byteCount
        preconditions = Preconditions(
            tag: EntityTag(PercentEncoding.string(of: randomID)),
            lastModified: createdAt
        )
    }
}
