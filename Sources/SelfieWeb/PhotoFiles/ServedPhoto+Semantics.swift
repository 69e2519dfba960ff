import Encodings
import ImageFiles
import S3
import SelfiePhotos

extension ServedPhoto {
    /// The conditions that a request may state.
    var preconditions: Preconditions {
        Preconditions(tag: EntityTag(PercentEncoding.string(of: tag)), lastModified: createdAt)
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
