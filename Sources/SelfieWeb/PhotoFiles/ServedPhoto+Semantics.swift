import Encodings
import ImageFiles
import S3
import SelfiePhotos

extension ServedPhoto {
    /// The conditions that a request may state.
    ///
    /// The tag is the object's key, because an object's bytes never change.
    var preconditions: Preconditions {
        Preconditions(tag: EntityTag(PercentEncoding.string(of: objectKey)), lastModified: createdAt)
    }

    /// The headers for the store's answer; none when the type is not known.
    var answerHeaders: AnswerHeaders {
        contentType.map { contentType in
            AnswerHeaders(
                contentType: contentType,
                contentDisposition: ContentDisposition.inline(
                    fileName: fileName,
                    format: ImageFormat(rawValue: contentType)
                )
            )
        } ?? AnswerHeaders()
    }
}
