import Foundation
import NIOHTTP1

/// Old versions of objects, and the markers that hide them.
///
/// In a bucket that keeps versions, a deletion only adds a marker. Each version, and the marker, must be deleted by its
/// id. Source: AWS, "Deleting object versions from a versioning-enabled bucket".
extension S3Client {
    /// How many objects' versions are deleted at a time.
    private static let objectsAtOnce = 8

    /// Lists versions and markers page by page, also those that are current.
    ///
    /// - Parameters:
    ///   - next: where the page begins, as the page before says; nil for the first.
    ///   - prefix: how the keys begin; empty for all.
    /// - Returns: the page; empty when there is no bucket.
    /// - Throws: any case of ``S3Error``. Some stores do not know this call.
    package func listVersions(
        from next: S3VersionPage.Marker? = nil,
        prefix: String = ""
    ) async throws(S3Error) -> S3VersionPage {
        var query = [
            QueryItem("versions"), QueryItem("max-keys", "\(Self.maxPageCount)"), QueryItem("encoding-type", "url"),
        ]
        if !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
        if let next { query += [QueryItem("key-marker", next.key), QueryItem("version-id-marker", next.versionID)] }
        let document: DocumentElement
        do {
            let call = prefix.isEmpty ? callForMany() : call(within: deadlines.call)
            document = try await page(query, root: "ListVersions", during: call)
        } catch {
            guard error.isMissingBucket else { throw error }
            return S3VersionPage(entries: [], next: nil)
        }
        do { return try S3VersionPage(document) } catch { throw .unavailable(S3Failure(cause: error)) }
    }

    /// Removes all versions of some objects.
    ///
    /// - Returns: the keys of which something is still there, each with the reason.
    func deleteVersions(ofEach objects: [S3Deletion]) async throws(S3Error) -> [String: S3Failure] {
        do {
            return try await withThrowingTaskGroup(of: (String, S3Failure)?.self) { group in
                var failures: [(String, S3Failure)] = []
                for (index, object) in objects.enumerated() {
                    if index >= Self.objectsAtOnce, let failure = try await group.next() ?? nil {
                        failures.append(failure)
                    }
                    group.addTask {
                        do throws(S3Error) {
                            try await deleteVersions(of: object)
                            return nil
                        } catch .refused(let failure) {
                            return (object.key, failure)
                        }
                    }
                }
                for try await failure in group { if let failure { failures.append(failure) } }
                return Dictionary(failures) { first, _ in first }
            }
        } catch let error as S3Error {
            throw error
        } catch {
            throw .cancelled
        }
    }

    /// Removes all versions of an object.
    ///
    /// Where versions can't be listed, it uses the id that the put returned.
    func deleteVersions(of object: S3Deletion) async throws(S3Error) {
        var next: S3VersionPage.Marker?
        repeat {
            let page: S3VersionPage
            do {
                page = try await listVersions(from: next, prefix: object.key)
            } catch {
                guard error.isRefusal else { throw error }
                return try await deleteKnownVersion(of: object, unlisted: error)
            }
            let versions = page.entries.filter { $0.key == object.key }
            for version in versions {
                try await deleteOne(S3Deletion(key: version.key, versionID: version.versionID))
            }
            // An object's own versions come before those of longer keys.
            next = versions.count < page.entries.count ? nil : page.next
        } while next != nil
    }

    /// Removes the version that is known, and hides others.
    ///
    /// - Throws: the reason why versions can't be listed, when some may be left.
    private func deleteKnownVersion(of object: S3Deletion, unlisted: S3Error) async throws(S3Error) {
        if object.versionID != nil {
            do {
                try await deleteOne(object)
            } catch .refused(let failure) where failure.status == 400 {
                // The id is of another bucket, from which the object was copied.
            }
        }
        if try await head(key: object.key) != nil {
            try await deleteOne(S3Deletion(key: object.key))
            if keepsVersions { throw unlisted }
        } else if object.versionID == nil {
            throw unlisted
        }
    }
}
