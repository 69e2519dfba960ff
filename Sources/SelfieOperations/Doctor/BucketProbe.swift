import Cryptography
import FoundationEssentials
import NIOCore
import NIOHTTP1
import ObjectStore
import S3

/// Puts an object into the bucket, makes all calls of the service with it, and deletes it.
struct BucketProbe: Sendable {
    let check: BucketCheck
    let client: S3Client
    let isListedPublicly: Bool
    let mayList: Bool

    let key = InstallationCheck.probePrefix + RandomIdentifier.makeSecret()
    let bytes = ByteBuffer(string: String(repeating: RandomIdentifier.makeSecret(), count: 64))

    /// What to do about a bucket that shows photos to everybody.
    static let publicRemedy = "Make the bucket private now. Selfie needs no more. See docs/stores.md#public-buckets."
    private static let contentType = "application/octet-stream"
    private static let range = 100..<300

    var findings: Findings { check.findings }

    func run() async {
        let versionID: String?
        do throws(S3Error) {
            versionID = try await client.put(key: key, body: S3Body(bytes), contentType: Self.contentType)
            findings.ok("an object can be put (\(BucketStep.put.permission))")
        } catch {
            // Ceph says `AccessDenied` of temporary keys that are wrong, unknown, cut or expired, too.
            let doubt = !mayList && error.isDenial
            let (failure, note) = (check.diagnosis(of: error, at: .put), "; the keys themselves may be wrong")
            findings.failed(failure.cause + (doubt ? note : ""), failure.remedy)
            findings.skipped("the calls with an object")
            if case .refused = error { return }
            if case .notFound = error { return }
            // It may have arrived in spite of the error.
            return await delete(versionID: nil)
        }
        if await checkReading() {
            await checkPublic()
            await checkUploadInParts()
        } else {
            findings.skipped("public access and uploads in parts, since the store is not available")
        }
        await delete(versionID: versionID)
    }

    /// Reads the object in all ways.
    ///
    /// - Returns: False when the store is not available: each further call would last until its deadline.
    private func checkReading() async -> Bool {
        let part = bytes.getSlice(at: bytes.readerIndex + Self.range.lowerBound, length: Self.range.count)
        let checks: [(step: BucketStep, success: String, isRight: () async throws -> Bool)] = [
            (.head, "its size is right", { try await client.head(key: key)?.contentLength == bytes.readableBytes }),
            (.get, "it comes back as it was", { try await read(nil).bytes == bytes }),
            (
                .range, "a part of it comes back",
                {
                    let answer = try await read(Self.range)
                    return answer.bytes == part && answer.info.contentRange != nil
                }
            ),
            (.presign, "a signed URL gives it to clients without keys", { try await isReadBySignedURL() }),
        ]
        for (step, success, isRight) in checks {
            do {
                if try await isRight() {
                    findings.ok("\(success) (\(step.permission))")
                } else {
                    findings.failed(check.diagnosis(of: .unanswered(S3NoAnswer.otherBytes), at: step))
                }
            } catch {
                let error = error as? S3Error ?? .unanswered(error)
                findings.failed(check.diagnosis(of: error, at: step))
                if case .unavailable = error { return false }
            }
        }
        return true
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
    private func isReadBySignedURL() async throws -> Bool {
        // As for photos: a shorter one would have ended by the clock of a store that is ahead.
        let window = PresignedWindow(at: check.plain.now(), endingBy: .distantFuture)
        let url = try await client.presignedGet(key: key, expires: window.seconds, at: window.start).url
        let answer = try await check.plain.get(url)
        guard answer.isSuccess else { throw answer.error }
        let directives = answer.headers[canonicalForm: "cache-control"].map { $0.lowercased() }
        if directives.contains("public") || directives.contains("immutable") {
            findings.warning(
                "the store lets caches keep photos for everybody (Cache-Control: public or immutable)",
                "Remove what adds that header, at the store or the CDN: caches would keep deleted photos."
            )
        }
        return answer.status == .ok && answer.body == bytes
    }

    private func checkPublic() async {
        do {
            let answer = try await check.plain.get(client.configuration.url(key: key))
            if answer.isSuccess, answer.body == bytes {
                findings.warning("PUBLIC: anybody with a photo's URL can get it without a signature", Self.publicRemedy)
            } else if !isListedPublicly {
                findings.ok("private: nothing can be listed or fetched without keys or a signature")
            }
        } catch {
            let failure = check.diagnosis(of: .unanswered(error), at: .get)
            findings.warning("its public access could not be checked: \(failure.cause)", failure.remedy)
        }
    }

    private func checkUploadInParts() async {
        let key = "\(key)-parts"
        var step = BucketStep.beginUpload
        do throws(S3Error) {
            let id = try await client.beginUpload(key: key, contentType: Self.contentType)
            do throws(S3Error) {
                _ = try await client.listUploads()
            } catch {
                let failure = check.diagnosis(of: error, at: .listUploads)
                findings.warning("\(failure.cause), which selfie photos reconcile needs", failure.remedy)
            }
            step = .abortUpload
            try await client.abortUpload(key: key, uploadID: id)
            findings.ok("large photos can be uploaded in parts, and uploads aborted (\(step.permission))")
        } catch {
            let failure = check.diagnosis(of: error, at: step)
            let left = step == .abortUpload ? " Abort the upload of \(key) in the store's console." : ""
            findings.warning("\(failure.cause), which photos of more than 32 MiB need", failure.remedy + left)
        }
    }

    private func delete(versionID: String?) async {
        do throws(S3Error) {
            try await client.delete(key: key, versionID: versionID)
            if client.keepsVersions {
                findings.warning(
                    "the bucket keeps old versions of its objects, or did so once",
                    """
                    Run selfie photos reconcile --versions, and switch versioning off. See \
                    docs/stores.md#buckets-that-keep-versions.
                    """
                )
            }
            if try await isDeleted() {
                findings.ok("it can be deleted (\(BucketStep.delete.permission))")
            } else {
                findings.failed(
                    "the object \(key) was deleted, and still exists",
                    "Look for a lock or a cache on the bucket, and delete the object by hand."
                )
            }
        } catch {
            let isVersion = client.keepsVersions && error.isDenial
            let failure = check.diagnosis(of: error, at: isVersion ? .deleteVersions : .delete)
            findings.failed(failure.cause, "\(failure.remedy) Delete the object \(key) by hand.")
        }
    }

    private func isDeleted() async throws(S3Error) -> Bool {
        do {
            return try await client.head(key: key) == nil
        } catch .refused(let failure) where failure.status == 403 {
            // Without the right to list, AWS does not say whether an object exists.
            return true
        }
    }
}
