import FoundationEssentials
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Removes an object with all its versions.
    ///
    /// A missing one is no error, but a missing bucket is: it may be there again.
    ///
    /// - Parameters:
    ///   - key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    ///   - versionID: the version that its put made, if it is known.
    /// - Throws: any case of ``S3Error``; ``S3Error/notFound(_:)`` only for the bucket. Some versions may be left then.
    package func delete(key: String, versionID: String? = nil) async throws(S3Error) {
        try Self.check(key: key)
        let object = ObjectDeletion(key: key, versionID: versionID)
        try await learnVersioning(again: false)
        if !mayHaveVersions(object) {
            try await deleteOne(object.current)
            // The answer may show that there are versions.
            guard keepsVersions else { return }
        }
        try await deleteVersions(of: object)
    }

    /// Removes many objects with all their versions.
    ///
    /// Missing ones are no error, but a missing bucket is.
    ///
    /// - Parameter objects: at most ``maxPageCount``, each key 1 to ``maxKeyBytes`` bytes of UTF-8.
    /// - Returns: the keys of which something is still there, each with the reason.
    /// - Throws: any case of ``S3Error``, when the call as a whole failed.
    package func delete(_ objects: [ObjectDeletion]) async throws(S3Error) -> [String: S3Failure] {
        try Self.check(objects)
        guard !objects.isEmpty else { return [:] }
        try await learnVersioning(again: true)
        // Otherwise each answer must show it. That to a deletion of many need not: Swift's does not.
        guard learned.current.versioning == .none, objects.count > 1 else { return try await deleteEach(objects) }
        return try await deleteInBatches(objects.map(\.current))
    }

    /// Whether a deletion alone may leave something.
    ///
    /// Where the bucket can't be asked, an id is a hint: the put of the object returned one.
    private func mayHaveVersions(_ object: ObjectDeletion) -> Bool {
        switch learned.current.versioning {
        case .kept: true
        case .none: false
        case .unasked, .unknown: object.versionID != nil
        }
    }

    private static func check(_ objects: [ObjectDeletion]) throws(S3Error) {
        guard objects.count <= maxPageCount else { throw .invalidArgument(.keyCount) }
        for object in objects { try check(key: object.key) }
    }

    /// Deletes the current version, or the one that is named.
    ///
    /// Without versions, that is the object.
    ///
    /// - Returns: The answer's headers; none when there was nothing.
    /// - Throws: any case of ``S3Error``. A 404 that does not name the object may come from something else than a store.
    @discardableResult
    func deleteOne(_ object: ObjectDeletion) async throws(S3Error) -> HTTPHeaders {
        let query = object.versionID.map { [QueryItem("versionId", $0)] } ?? []
        let request = S3Request(method: .DELETE, key: object.key, query: query)
        do {
            return try await send(request, by: deadline(in: deadlines.call))
        } catch .notFound(let failure) where Self.missingCodes.contains(failure.code ?? "") {
            return [:]
        }
    }

    private static let missingCodes: Set<String> = ["NoSuchKey", "NoSuchVersion"]

    /// Does the same for many.
    ///
    /// A store that does not know the call for many gets a request for each object. When a later call fails, what was
    /// deleted before counts as deleted, and the rest as failed.
    func deleteInBatches(_ objects: [ObjectDeletion]) async throws(S3Error) -> [String: S3Failure] {
        var failures: [String: S3Failure] = [:]
        var single = objects.filter { !RequestDocument.canHold($0.key) }
        let possible = objects.filter { RequestDocument.canHold($0.key) }
        var together = possible[...]
        while !together.isEmpty {
            let batch = together.prefix(learned.current.deletionBatch.count)
            do {
                failures.merge(try await deleteTogether(batch)) { first, _ in first }
            } catch {
                if error.isUnknownCall {
                    single = together + single
                    break
                }
                guard together.count < possible.count, let failure = error.failure else { throw error }
                for object in together + single { failures[object.key] = failure }
                return failures
            }
            together = together.dropFirst(batch.count)
        }
        for object in single {
            do {
                try await deleteOne(object)
            } catch .refused(let failure) {
                failures[object.key] = failure
            }
        }
        return failures
    }

    /// Source: AWS, "DeleteObjects".
    private func deleteTogether(_ objects: ArraySlice<ObjectDeletion>) async throws(S3Error) -> [String: S3Failure] {
        var document = RequestDocument("Delete")
        document.add("Quiet", "true")
        for object in objects {
            if let versionID = object.versionID {
                document.add("Object", ["Key": object.key, "VersionId": versionID])
            } else {
                document.add("Object", ["Key": object.key])
            }
        }
        let body = document.body
        var request = S3Request(method: .POST, query: [QueryItem("delete")], body: body)
        // AWS refuses this call without a second digest beside the signed one.
        request.headers = ["Content-Type": "application/xml", "Content-MD5": body.md5Base64]
        let result = try await timed(deletionOf: objects.count) { deadline throws(S3Error) in
            try await self.document(
                request,
                root: "DeleteResult",
                maxBytes: Self.maxDeletionAnswerBytes,
                by: deadline
            ).root
        }
        var failures: [String: S3Failure] = [:]
        let keys = Set(objects.map(\.key))
        for element in result.all("Error") {
            // A key that the answer omits can't be distinguished from a deleted one.
            guard let key = element["Key"], keys.contains(key) else {
                throw .unavailable(S3Failure(cause: S3NoAnswer.malformed))
            }
            let code = element["Code"] ?? "unknown"
            if Self.missingCodes.contains(code) { continue }
            failures[key] = S3Failure(code: code, message: element["Message"])
        }
        return failures
    }

    /// Runs a call that deletes some objects, and learns from its time how many the next one should delete.
    private func timed<Result>(
        deletionOf count: Int,
        _ body: (Deadline) async throws(S3Error) -> Result
    ) async throws(S3Error) -> Result {
        let deadline = deadlineForMany()
        do {
            let result = try await body(deadline)
            learned.noteDeletion(of: count, took: deadline.elapsed, succeeded: true)
            return result
        } catch {
            learned.noteDeletion(of: count, took: deadline.elapsed, succeeded: false)
            throw error
        }
    }

    private static let maxDeletionAnswerBytes = maxPageCount * (3 * maxKeyBytes + 1_024)
}
