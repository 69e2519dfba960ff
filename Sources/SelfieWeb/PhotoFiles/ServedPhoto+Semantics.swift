import Encodings
import ImageFiles
import ObjectStore
import SelfieCore

extension ServedPhoto {
    /// The conditions that a request may state.
    ///
    /// The tag is the id, because a photo's bytes never change.
    var preconditions: Preconditions {
        Preconditions(tag: EntityTag(PercentEncoding.string(of: randomID)), lastModified: createdAt)
    }

    /// The headers for the store's answer; nil when the type is not known.
    var label: PublicLabel? {
        contentType.map { contentType in
            PublicLabel(
                contentType: contentType,
                contentDisposition: ContentDisposition.inline(
                    fileName: fileName,
                    format: ImageFormat(rawValue: contentType)
                )
            )
        }
    }
}
