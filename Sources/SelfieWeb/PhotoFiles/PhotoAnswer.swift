import Budgets
import Encodings
import HTTPConnection
import HTTPTypes
import Hummingbird
import ImageFiles
import Logging
import NIOCore
import ObjectStore
import SelfiePhotos

/// The answer with all of a photo's bytes, or a part of them.
struct PhotoAnswer {
    let photo: ServedPhoto
    let objects: any ObjectStore
    /// The download's, for as long as bytes are sent.
    let permits: [Permit<String>]

    /// Makes the answer.
    ///
    /// - Parameters:
    ///   - request: The request. For HEAD, no byte is fetched.
    ///   - context: Its connection.
    /// - Returns: 200 or 206; nil when the photo's object is missing.
    /// - Throws: `ServiceError` with status 416, `ObjectStoreError`.
    func response(to request: Request, context: ServiceRequestContext) async throws -> Response? {
        var known: Int?
        if request.method == .head || photo.byteCount == nil {
            known = try await objects.length(key: photo.objectKey)
            guard known != nil else { return nil }
        }
        let length = known ?? photo.byteCount ?? 0
        guard photo.byteCount == nil || photo.byteCount == length else { throw Self.otherLength }
        var headers = headers(length: length)
        // HEAD ignores the range (RFC 9110, section 14.2).
        if request.method == .head {
            return Response(status: .ok, headers: headers, body: ResponseBody(contentLength: length) { _ in })
        }
        let asksForPart = photo.preconditions.allowsRange(request.headers)
        switch RequestedRange(asksForPart ? request.headers[.range] : nil, length: length) {
        case .unsatisfiable:
            var refusal = ServiceError.noSuchBytes
            refusal.headers[.contentRange] = "bytes */\(length)"
            throw refusal
        case .part(let range):
            guard let body = try await body(range, of: length, context: context) else { return nil }
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            return Response(status: .partialContent, headers: headers, body: body)
        case .whole:
            guard let body = try await body(nil, of: length, context: context) else { return nil }
            return Response(status: .ok, headers: headers, body: body)
        }
    }

    private func headers(length: Int) -> HTTPFields {
        var headers: HTTPFields = [
            .contentType: photo.contentType ?? ServedPhoto.unknownContentType,
            .eTag: photo.preconditions.tag.quoted,
            .acceptRanges: "bytes",
            .contentDisposition: ContentDisposition.inline(
                fileName: photo.fileName,
                format: photo.contentType.flatMap(ImageFormat.init(rawValue:))
            ),
        ]
        if let seconds = photo.preconditions.lastModified { headers[.lastModified] = HTTPDate.text(of: seconds) }
        return headers
    }

    private func body(_ range: Range<Int>?, of length: Int, context: ServiceRequestContext) async throws
        -> ResponseBody?
    {
        guard let object = try await objects.open(key: photo.objectKey, range: range) else { return nil }
        guard object.length == length else { throw Self.otherLength }
        return ResponseBody(object.bytes, count: range?.count ?? length, permits: permits, context: context)
    }

    private static let otherLength = ObjectStoreError.refused(WrongObjectLength())
}

/// An object's length is not that of its row.
struct WrongObjectLength: Error {}

extension ResponseBody {
    /// A body of an object's bytes.
    ///
    /// They are fetched as fast as the client takes them.
    ///
    /// If the bytes end too early, the connection is closed, so that the client does not take a part for the whole.
    fileprivate init(_ bytes: ObjectBytes, count: Int, permits: [Permit<String>], context: ServiceRequestContext) {
        let (channel, logger, notes) = (context.channel, context.logger, context.notes)
        notes.noteStreaming()
        self.init(contentLength: count) { writer in
            switch bytes {
            case .file(let file, let range): try await channel.send(file, range, onSent: notes.noteSent)
            case .transfer(let next):
                while let chunk = try await Self.chunk(next, logger) { try await writer.write(chunk) }
            }
            try await writer.finish(nil)
            withExtendedLifetime(permits) {}
        }
    }

    /// The next bytes of a transfer.
    ///
    /// A failure goes to the log, because the answer has begun already.
    private static func chunk(
        _ next: @Sendable () async throws(ObjectStoreError) -> ByteBuffer?,
        _ logger: Logger
    ) async throws(ObjectStoreError) -> ByteBuffer? {
        do {
            return try await next()
        } catch .unavailable(let cause) where cause is CancellationError {
            throw .unavailable(cause)
        } catch {
            logger.error("a photo broke off", metadata: ["error": "\(error)"])
            throw error
        }
    }
}
