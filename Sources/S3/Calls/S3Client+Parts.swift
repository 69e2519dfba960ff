import Concurrency
import NIOCore
import NIOHTTP1

/// One part of an object, as the store took it.
private struct UploadedPart: Sendable {
    let number: Int
    let md5Hex: String
    let tag: EntityTag
}

extension S3Client {
    /// Stores an object in parts.
    ///
    /// Aborts the upload when a part fails or the task is cancelled.
    ///
    /// Source: AWS, "Uploading and copying objects using multipart upload".
    ///
    /// - Returns: the object as it was stored, and the entity tag to expect.
    func putInParts(
        key: String,
        body: S3Body,
        contentType: String,
        by deadline: Deadline
    ) async throws(S3Error) -> (stored: PutAnswer, expected: String) {
        let uploadID = try await makingBucket(by: deadline) { deadline throws(S3Error) in
            try await createUpload(key: key, contentType: contentType, by: deadline)
        }
        do {
            let parts = try await putParts(of: body, key: key, uploadID: uploadID, by: deadline)
            let expected = EntityTag.ofParts(md5Hex: parts.map(\.md5Hex))
            return (try await complete(parts, key: key, uploadID: uploadID, by: deadline), expected)
        } catch {
            // In a task of its own, since this one may be cancelled. The store keeps the parts, and bills them, until
            // the upload is aborted.
            _ = await Task { try? await abortUpload(key: key, uploadID: uploadID) }.value
            throw error
        }
    }

    /// Begins an upload in parts, only to see whether the keys allow it.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    ///   - contentType: as for an object.
    /// - Returns: the upload's id, for ``abortUpload(key:uploadID:)``.
    /// - Throws: any case of ``S3Error``.
    package func beginUpload(key: String, contentType: String) async throws(S3Error) -> String {
        try Self.check(key: key)
        return try await createUpload(key: key, contentType: contentType, by: deadline(in: deadlines.call))
    }

    private func createUpload(key: String, contentType: String, by deadline: Deadline) async throws(S3Error) -> String {
        var request = S3Request(method: .POST, key: key, query: [QueryItem("uploads")])
        request.headers = ["Content-Type": contentType]
        let document = try await document(request, root: "InitiateMultipartUpload", by: deadline).root
        guard let uploadID = document["UploadId"], !uploadID.isEmpty else {
            throw .unavailable(S3Failure(cause: S3NoAnswer.malformed))
        }
        return uploadID
    }

    private func putParts(
        of body: S3Body,
        key: String,
        uploadID: String,
        by deadline: Deadline
    ) async throws(S3Error) -> [UploadedPart] {
        let ranges = uploads.parts(length: body.length)
        objectsInParts.begin()
        defer { objectsInParts.end() }
        var uploaded: [UploadedPart] = []
        do {
            try await forEachResult(
                of: ranges.enumerated(),
                // Other uploads begin and end meanwhile.
                atOnce: uploads.partsInFlight(among: objectsInParts.count),
                by: { index, range in
                    try await putPart(
                        index + 1,
                        body: body,
                        range: range,
                        key: key,
                        uploadID: uploadID,
                        by: deadline
                    )
                },
                { uploaded.append($0) }
            )
            return uploaded.sorted { $0.number < $1.number }
        } catch let error as S3Error {
            throw error
        } catch {
            throw .cancelled
        }
    }

    private func putPart(
        _ number: Int,
        body: S3Body,
        range: Range<Int>,
        key: String,
        uploadID: String,
        by deadline: Deadline
    ) async throws(S3Error) -> UploadedPart {
        let part: S3Body
        do { part = try await body.part(range) } catch { throw .source(error) }
        let query = [QueryItem("partNumber", "\(number)"), QueryItem("uploadId", uploadID)]
        let request = S3Request(method: .PUT, key: key, query: query, body: part)
        guard let tag = EntityTag(try await send(request, by: deadline.restarted())) else {
            throw .unavailable(S3Failure(cause: S3NoAnswer.malformed))
        }
        return UploadedPart(number: number, md5Hex: part.md5Hex, tag: tag)
    }

    private func complete(
        _ parts: [UploadedPart],
        key: String,
        uploadID: String,
        by deadline: Deadline
    ) async throws(S3Error) -> PutAnswer {
        var document = RequestDocument("CompleteMultipartUpload")
        for part in parts { document.add("Part", ["PartNumber": "\(part.number)", "ETag": "\"\(part.tag.value)\""]) }
        let request = S3Request(method: .POST, key: key, query: [QueryItem("uploadId", uploadID)], body: document.body)
        let isOfCiphertext = parts.contains(where: \.tag.isOfCiphertext)
        do {
            let (result, headers) = try await self.document(
                request,
                root: "CompleteMultipartUpload",
                by: deadline.restarted()
            )
            if let text = result["ETag"], !text.isEmpty {
                let tag = EntityTag(text: text, isOfCiphertext: isOfCiphertext)
                return PutAnswer(tag: tag, versionID: VersionHeaders.versionID(headers))
            }
            // Ceph leaves the tag out.
            return PutAnswer(try await head(key: key, by: deadline.restarted()))
        } catch .notFound(let failure) where failure.code == "NoSuchUpload" || failure.code == nil {
            // An earlier attempt may have completed it. Or the refusal ended before its code.
            let answer = PutAnswer(try await head(key: key, by: deadline.restarted()))
            guard answer.tag != nil else { throw .notFound(failure) }
            return answer
        }
    }
}
