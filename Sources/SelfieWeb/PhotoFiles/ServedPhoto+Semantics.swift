import Encodings
import ObjectStore
import SelfieCore

extension ServedPhoto {
    /// What a request for it may depend on; its tag is its id, since its bytes never change.
    var preconditions: Preconditions {
        Preconditions(tag: EntityTag(PercentEncoding.string(of: randomID)), lastModified: createdAt)
    }

    /// What the store is to call it; nil for a photo that railsauth stored: the store knows more of its type.
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
}
