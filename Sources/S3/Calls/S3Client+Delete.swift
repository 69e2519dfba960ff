import Crypto
import Foundation
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Removes an object.
    ///
    /// A missing one is no error, but a missing bucket is: it may be there again.
    ///
    /// - Parameter key: 1 to ``maxKeyBytes`` bytes of UTF-8.
    /// - Throws: any case of ``S3Error``; ``S3Error/notFound(_:)`` only for the bucket.
    package func delete(key: String) async throws(S3Error) {
        try Self.check(key: key)
        do {
            try await send(S3Request(method: .DELETE, key: key), during: call(within: deadlines.call))
        } catch {
            guard case .notFound = error, !error.isMissingBucket else { throw error }
        }
    }

    /// Removes many objects at once.
    ///
    /// Missing ones are no error, but a missing bucket is.
    ///
    /// A store that does not know this call gets a request for each object.
    ///
    /// - Parameter keys: at most ``maxPageCount``, each 1 to ``maxKeyBytes`` bytes of UTF-8.
    /// - Returns: the keys whose objects are still there, each with the reason.
    /// - Throws: any case of ``S3Error``, when the call as a whole failed.
    package func delete(keys: [String]) async throws(S3Error) -> [String: S3Failure] {
        guard keys.count <= Self.maxPageCount else { throw .invalidArgument(.keyCount) }
        for key in keys { try Self.check(key: key) }
        if keys.count == 1 {
            try await delete(key: keys[0])
            return [:]
        }
        let together = keys.filter(RequestDocument.canHold)
        var failures: [String: S3Failure] = [:]
        var single = keys.filter { !RequestDocument.canHold($0) }
        if !together.isEmpty {
            do {
                failures = try await deleteTogether(together)
            } catch {
                guard error.isUnknownCall else { throw error }
                single = keys
            }
        }
        for key in single { try await delete(key: key) }
        return failures
    }

    /// Source: AWS, "DeleteObjects".
    private func deleteTogether(_ keys: [String]) async throws(S3Error) -> [String: S3Failure] {
        let document = RequestDocument("Delete")
        document.add("Quiet", "true")
        for key in keys { document.add("Object", ["Key": key]) }
        let body = document.body
        var request = S3Request(method: .POST, query: [QueryItem("delete")], body: body)
        // AWS refuses this call without a second digest beside the signed one.
        request.headers = ["Content-Type": "application/xml", "Content-MD5": body.md5Base64]
        let result = try await self.document(
            request,
            root: "DeleteResult",
            maxBytes: Self.maxDeletionAnswerBytes,
            during: call(within: deadlines.list)
        )
        let failures = result.all("Error").compactMap { element in
            element["Key"].map { key in
                (key, S3Failure(code: element["Code"] ?? "unknown", message: element["Message"]))
            }
        }
        return Dictionary(failures) { first, _ in first }.filter { $0.value.code != "NoSuchKey" }
    }

    private static let maxDeletionAnswerBytes = maxPageCount * (3 * maxKeyBytes + 1_024)
}
