import Encodings
import FoundationEssentials
import NIOCore
import NIOHTTP1
import ObjectStore
import S3

/// Puts an object into the bucket, makes all calls of the service with it, and deletes it.
struct BucketProbe: Sendable {
    let client: S3Client
    let plain: PlainRequest
    let advice: S3Advice
    let isListedPublicly: Bool
    /// Whether the store refused to list objects.
    let isListDenied: Bool
    let now: @Sendable () -> Date
    let findings: Findings

    private let key = Diagnosis.probePrefix + RandomIdentifier.makeSecret()
    private let bytes = ByteBuffer(string: String(repeating: RandomIdentifier.makeSecret(), count: 64))
    private let contentType = "application/octet-stream"

    private static let range = 100..<300

    init(
        client: S3Client,
        plain: PlainRequest,
        advice: S3Advice,
        isListedPublicly: Bool,
        isListDenied: Bool,
        now: @escaping @Sendable () -> Date,
        findings: Findings
    ) {
        self.client = client
        self.plain = plain
        self.advice = advice
        self.isListedPublicly = isListedPublicly
        self.isListDenied = isListDenied
        self.now = now
        self.findings = findings
    }

    func run() async {
        let versionID: String?
        do throws(S3Error) {
            versionID = try await client.put(key: key, body: S3Body(bytes), contentType: contentType)
            findings.ok("an object can be put (\(BucketStep.put.permission))")
        } catch {
            findings.failed(
                isListDenied && advice.isDenial(error)
                    ? advice.nothingAllowed(error) : advice.explanation(of: error, at: .put)
            )
            findings.skipped("the calls with an object")
            if case .refused = error { return }
            if case .notFound = error { return }
            // It may have arrived in spite of the error.
            return await delete(versionID: nil, isReported: false)
        }
        // A silent store gets no further calls: each would last until its deadline.
        if await checkReading() {
            await checkPublic()
            await checkUploadInParts()
        } else {
            findings.skipped("whether the public sees it, and uploads in parts, since the store is not available")
        }
        await delete(versionID: versionID, isReported: true)
    }

    /// Runs one step.
    ///
    /// - Returns: False when the store can't be reached any more.
    private func attempt(
        _ step: BucketStep,
        _ success: String,
        _ body: () async throws(S3Error) -> Bool
    ) async -> Bool {
        do throws(S3Error) {
            if try await body() {
                findings.ok("\(success) (\(step.permission))")
            } else {
                findings.failed(
                    "\(step.name) failed: the bytes that came back are not those that were put",
                    """
                    Something between this machine and the store changes what passes, such as a cache or a proxy that \
                    compresses; let it pass the store's traffic as it is. If there is none, keep no photos in this store.
                    """
                )
            }
            return true
        } catch {
            findings.failed(advice.explanation(of: error, at: step))
            if case .unavailable = error { return false }
            return true
        }
    }

    private func checkReading() async -> Bool {
        let range = Self.range
        let part = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count)
        var isAvailable = await attempt(.head, "its size is told") { () async throws(S3Error) in
            try await client.head(key: key)?.contentLength == bytes.readableBytes
        }
        guard isAvailable else { return false }
        isAvailable = await attempt(.get, "it comes back as it was") { () async throws(S3Error) in
            try await read(nil).bytes == bytes
        }
        guard isAvailable else { return false }
        isAvailable = await attempt(.range, "a part of it comes back") { () async throws(S3Error) in
            let answer = try await read(range)
            return answer.bytes == part && answer.info.contentRange != nil
        }
        guard isAvailable else { return false }
        return await checkSignedURL()
    }

    private func read(_ range: Range<Int>?) async throws(S3Error) -> (info: S3ObjectInfo, bytes: ByteBuffer) {
        let object = try await client.get(key: key, range: range)
        var collected = ByteBuffer()
        for try await var chunk in object.bytes {
            collected.writeBuffer(&chunk)
            if collected.readableBytes > bytes.readableBytes { break }
        }
        return (object.info, collected)
    }

    /// Fetches the object as clients do, by the URL that the service redirects them to.
    private func checkSignedURL() async -> Bool {
        await attempt(.presign, "a signed URL gives it to clients without keys") { () async throws(S3Error) in
            let date = now()
            // As for photos: a shorter one would have ended by the clock of a store that is ahead.
            let window = PresignedWindow(at: date, endingBy: .distantFuture)
            let url = try await client.presignedGet(key: key, expires: window.seconds, at: window.start).url
            let answer: PlainRequest.Answer
            do { answer = try await plain.get(url) } catch { throw .unanswered(error) }
            guard answer.isSuccess else { throw answer.error }
            warnOfCaches(answer.headers)
            return answer.status == .ok && answer.body == bytes
        }
    }

    private func warnOfCaches(_ headers: HTTPHeaders) {
        let directives = headers[canonicalForm: "cache-control"].map { $0.lowercased() }
        guard directives.contains("public") || directives.contains("immutable") else { return }
        findings.warning(
            "the store lets caches keep photos for everybody (Cache-Control: public or immutable)",
            "Remove what adds that header at the store or the CDN: a deleted photo could be fetched from caches for long."
        )
    }

    private func checkPublic() async {
        do {
            let answer = try await plain.get(client.configuration.url(key: key))
            if answer.isSuccess, answer.body == bytes {
                findings.warning(
                    "PUBLIC: anybody who knows a photo's URL can get it without a signature",
                    PublicAccess.advice
                )
            } else if !isListedPublicly {
                findings.ok("private: nothing can be listed or fetched without keys or a signature")
            }
        } catch {
            findings.warning(
                "it is unknown whether the public sees it (\(advice.secrets.hidden(in: "\(error)")))",
                "Run selfie doctor again."
            )
        }
    }

    private func checkUploadInParts() async {
        let key = "\(key)-parts"
        var step = BucketStep.beginUpload
        do throws(S3Error) {
            let id = try await client.beginUpload(key: key, contentType: contentType)
            let listing: S3Error?
            do throws(S3Error) {
                _ = try await client.listUploads()
                listing = nil
            } catch {
                listing = error
            }
            step = .abortUpload
            try await client.abortUpload(key: key, uploadID: id)
            guard let listing else {
                return findings.ok(
                    "large photos can go in parts, and be given up (\(BucketStep.abortUpload.permission))"
                )
            }
            let explanation = advice.explanation(of: listing, at: .listUploads)
            findings.warning("\(explanation.text), which selfie photos reconcile needs", explanation.advice)
        } catch {
            let explanation = advice.explanation(of: error, at: step)
            let left =
                step == .abortUpload ? " An unfinished upload of \(key) is left; abort it in the store's console." : ""
            findings.warning("\(explanation.text), which photos of more than 32 MiB need", explanation.advice + left)
        }
    }

    private func delete(versionID: String?, isReported: Bool) async {
        do throws(S3Error) {
            try await client.delete(key: key, versionID: versionID)
            guard isReported else { return }
            warnOfVersions()
            if try await isGone() {
                findings.ok("it can be deleted, and is gone (\(BucketStep.delete.permission))")
            } else {
                findings.failed(
                    "the object \(key) was deleted, and is still there",
                    "Deleted photos would stay in the store. Is there a lock or a cache on the bucket? Delete it by hand."
                )
            }
        } catch {
            let step = client.keepsVersions && advice.isDenial(error) ? BucketStep.deleteVersions : .delete
            let explanation = advice.explanation(of: error, at: step)
            let left = isReported ? " The object \(key) is left in the bucket: delete it by hand." : ""
            let text = isReported ? explanation.text : "whether the object \(key) is in the bucket is not known"
            findings.failed(text, explanation.advice + left)
        }
    }

    private func warnOfVersions() {
        guard client.keepsVersions else { return }
        findings.warning(
            "the bucket keeps old versions of its objects, or did so once",
            """
            A deletion alone leaves them. So Selfie deletes each version of a deleted photo, for which the keys need \
            \(BucketStep.deleteVersions.permission). What was deleted in another way is still there: run selfie photos \
            reconcile --versions. Better, switch versioning off, and add a life-cycle rule that removes old versions after a \
            day.
            """
        )
    }

    private func isGone() async throws(S3Error) -> Bool {
        do {
            return try await client.head(key: key) == nil
        } catch .refused(let failure) where failure.status == 403 {
            // Without the right to list, AWS does not tell whether an object exists.
            return true
        }
    }
}
