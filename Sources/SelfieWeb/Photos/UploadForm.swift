import Hummingbird
import Multipart
import ObjectStore

/// The contents of an upload: the title, and the photo's bytes.
struct UploadForm {
    /// The file part `image`.
    struct Image {
        let fileName: String
        /// Nil when the bytes were dropped.
        let object: SpooledObject?
    }

    private(set) var fields: [String: String]
    private(set) var image: Image?

    /// The most parts.
    ///
    /// The reference client sends two.
    private static let maxPartCount = 16
    /// The most bytes of a text part.
    ///
    /// A title takes a thousand.
    private static let maxFieldBytes = 16 * 1024
    /// The most bytes beside the file: boundaries, part headers, text parts.
    private static let maxOverheadBytes = 512 * 1024

    /// The least number of bytes that a request's file has, by the length of its body.
    ///
    /// It is `maxFileBytes` at most: a longer file is refused later, whatever is known of it.
    static func minFileBytes(of request: Request, maxFileBytes: Int) -> Int {
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        return min(max(0, length - maxOverheadBytes), maxFileBytes)
    }

    /// Reads a body as it arrives.
    ///
    /// - Parameters:
    ///   - request: The request. Its body is consumed.
    ///   - context: Its connection.
    ///   - maxFileBytes: The largest photo.
    ///   - makeSpool: Makes a spool for the photo's bytes. With nil, they are counted and dropped.
    /// - Throws: `ServiceError`, `MultipartError`, `PosixFileError`, `TooBusy`, or what the connection throws.
    init(
        request: Request,
        context: some ConnectionContext,
        maxFileBytes: Int,
        spool makeSpool: (() -> Spool)?
    ) async throws {
        let tooLarge = ServiceError.bodyTooLarge(maxBytes: maxFileBytes)
        let maxBytes = maxFileBytes + Self.maxOverheadBytes
        let limits = MultipartLimits(
            maxFileBytes: maxFileBytes,
            maxPartCount: Self.maxPartCount,
            maxFieldBytes: Self.maxFieldBytes
        )
        let parts = MultipartSequence(
            body: try request.wantedBody(maxBytes: maxBytes, context: context, otherwise: tooLarge),
            maxBytes: maxBytes,
            tooLarge: tooLarge,
            boundary: try MultipartBoundary(contentType: request.headers[.contentType] ?? ""),
            limits: limits
        )
        var form = MultipartForm()
        var isImage = false
        var fileName: String?
        var spool = makeSpool?()
        var image: Image?
        do {
            for try await event in parts {
                if case .partBegin(let part) = event { isImage = part.name == Endpoint.Parameter.image.name }
                // An image that is sent as text counts as missing, whatever its bytes.
                guard isImage else {
                    try form.append(event)
                    continue
                }
                switch event {
                case .partBegin(let part):
                    // The last part of the name counts, a file or a text.
                    image = nil
                    fileName = part.filename
                case .partBytes(let chunk) where fileName != nil:
                    try await spool?.append(chunk)
                case .partEnd:
                    guard let name = fileName else { continue }
                    image = Image(fileName: name, object: try await spool.take()?.finish())
                    spool = makeSpool?()
                    fileName = nil
                case .partBytes: continue
                }
            }
        } catch MultipartError.fieldTooLarge where isImage {
            // A text is no photo, whatever its bytes.
            throw ServiceError.parametersMissing([Endpoint.Parameter.image.name], hint: "image must be a file")
        } catch let error as MultipartError {
            throw ServiceError(error, within: limits)
        }
        fields = form.fields
        self.image = image
    }
}
