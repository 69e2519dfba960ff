import NIOCore
import NIOHTTP1

extension S3Client {
    /// Stores an object, and replaces any under the same key.
    ///
    /// Makes the bucket when it is missing.
    ///
    /// An object larger than ``S3UploadPolicy/maxSinglePutBytes`` goes in parts. What the store reports is compared
    /// with what was sent. It never lasts longer than ``S3Deadlines/put``, or ``S3Deadlines/putInParts``. It fails
    /// within ``S3Deadlines/giveUp`` when the store is stopped.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8, any characters.
    ///   - body: the bytes. They are read chunk by chunk, once for every attempt, and once more for each part.
    ///   - contentType: given back with the object, such as `image/jpeg`.
    /// - Returns: the id of the version that was made; nil where the bucket keeps none.
    /// - Throws: any case of ``S3Error``. After an error the object is in the store as a whole or not at all. After
    ///   ``S3NoAnswer/otherBytes`` it is there and must be deleted.
    @discardableResult
    package func put(key: String, body: S3Body, contentType: String) async throws(S3Error) -> String? {
        try Self.check(key: key)
        let isPrintable = contentType.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard !contentType.isEmpty, isPrintable else { throw .invalidArgument(.contentType) }
        let isWhole = body.length <= uploads.maxSinglePutBytes
        let deadline = self.deadline(in: isWhole ? deadlines.put : deadlines.putInParts)
        let (stored, expected): (PutAnswer, String)
        if isWhole {
            (stored, expected) = try await makingBucket(by: deadline) { deadline throws(S3Error) in
                let headers: HTTPHeaders = ["Content-Type": contentType]
                let request = S3Request(method: .PUT, key: key, headers: headers, body: body)
                return (PutAnswer(try await send(request, by: deadline)), body.md5Hex)
            }
        } else {
            (stored, expected) = try await putInParts(key: key, body: body, contentType: contentType, by: deadline)
        }
        try await verify(stored.tag, expected: expected, key: key, body: body, by: deadline.restarted())
        return stored.versionID
    }

    /// Runs a request.
    ///
    /// If the bucket is missing, makes it and runs the request again.
    func makingBucket<Result>(
        by deadline: Deadline,
        _ operation: (Deadline) async throws(S3Error) -> Result
    ) async throws(S3Error) -> Result {
        do {
            return try await operation(deadline)
        } catch {
            guard error.isMissingBucket else { throw error }
        }
        do {
            try await createBucket(by: deadline.restarted())
        } catch .refused(let failure) where failure.status == 409 {
            // Someone else was faster. The second attempt shows whether we may write to the bucket.
        }
        return try await operation(deadline.restarted())
    }

    /// Finds out whether the store has an object of these bytes.
    ///
    /// It fetches the object only if the store's tag does not show it.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    ///   - length: how many bytes there must be.
    ///   - digests: their digests.
    /// - Returns: false when there is no object, or one of other bytes.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func holds(key: String, length: Int, digests: ObjectDigests) async throws(S3Error) -> Bool {
        let deadline = self.deadline(in: deadlines.put)
        guard let info = try await head(key: key, by: deadline), info.contentLength == length else { return false }
        if info.tag?.matches(digests.md5Hex) == true { return true }
        return try await readsBack(key: key, sha256Hex: digests.sha256Hex, by: deadline.restarted())
    }

    /// Compares what the store reports about an object with what was sent.
    ///
    /// An entity tag other than the expected one need not mean other bytes. Some stores encrypt, and others have tags
    /// of their own. The signature made the store check the bytes as they came, so for a store known to do that their
    /// number is enough. Otherwise the object is read back.
    private func verify(
        _ tag: EntityTag?,
        expected: String,
        key: String,
        body: S3Body,
        by deadline: Deadline
    ) async throws(S3Error) {
        if tag?.matches(expected) == true { return }
        let isRight: Bool
        if tag?.isOfCiphertext == true || learned.current.hasOpaqueTags {
            isRight = try await head(key: key, by: deadline)?.contentLength == body.length
        } else {
            isRight = try await readsBack(key: key, sha256Hex: body.sha256Hex, by: deadline)
            if isRight { learned.noteOpaqueTags() }
        }
        guard isRight else { throw .unavailable(S3Failure(cause: S3NoAnswer.otherBytes)) }
    }

    private func readsBack(key: String, sha256Hex: String, by deadline: Deadline) async throws(S3Error) -> Bool {
        var digests = ObjectDigests()
        for try await chunk in try await get(key: key, by: deadline).bytes {
            // A get's deadline ends with the answer's head, and a store that sends very slowly is never silent.
            guard deadline.hasTime() else { throw .unavailable(S3Failure(cause: S3NoAnswer.overdue)) }
            digests.update(chunk)
        }
        return digests.sha256Hex == sha256Hex
    }
}

/// What a store answers to a put.
struct PutAnswer: Sendable {
    let tag: EntityTag?
    /// Nil where the bucket keeps no versions.
    let versionID: String?
}

extension PutAnswer {
    /// Reads an answer's headers.
    init(_ headers: HTTPHeaders) {
        self.init(tag: EntityTag(headers), versionID: VersionHeaders.versionID(headers))
    }

    /// Takes what the store says about the object afterwards; nil if it is missing.
    init(_ info: S3ObjectInfo?) {
        self.init(tag: info?.tag, versionID: info?.versionID)
    }
}
