import Foundation
import NIOHTTP1

/// Old versions of objects, and the markers that hide them.
///
/// In a bucket that keeps versions, a deletion only adds a marker. Each version, and the marker, must be deleted by its
/// id. Source: AWS, "Deleting object versions from a versioning-enabled bucket".
extension S3Client {
    /// How many objects are deleted at a time.
    private static let objectsAtOnce = 8

    /// Lists versions and markers page by page, also those that are current.
    ///
    /// - Parameters:
    ///   - next: where the page begins, as the page before says; nil for the first.
    ///   - prefix: how the keys begin; empty for all.
    /// - Returns: the page.
    /// - Throws: any case of ``S3Error``. Some stores do not know this call.
    package func listVersions(
        from next: S3VersionPage.Marker? = nil,
        prefix: String = ""
    ) async throws(S3Error) -> S3VersionPage {
        var query = [
            QueryItem("versions"), QueryItem("max-keys", "\(Self.maxPageCount)"), QueryItem("encoding-type", "url"),
        ]
        if !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
        if let next {
            query.append(QueryItem("key-marker", next.key))
            // AWS refuses an empty one.
            if !next.versionID.isEmpty { query.append(QueryItem("version-id-marker", next.versionID)) }
        }
        let call = prefix.isEmpty ? callForMany() : call(within: deadlines.call)
        let document = try await page(query, root: "ListVersions", during: call)
        do { return try S3VersionPage(document) } catch { throw .unavailable(S3Failure(cause: error)) }
    }

    /// Goes through all versions and markers, with two pages in memory at a time.
    ///
    /// The body may delete what it gets. A page begins after the last entry of the one before, which some stores must
    /// still find. So the next page is fetched first.
    ///
    /// - Parameter body: takes a page.
    /// - Throws: any case of ``S3Error``, or what the body throws.
    package func forEachPageOfVersions(_ body: ([S3VersionPage.Entry]) async throws -> Void) async throws {
        var page = try await listVersions()
        while let next = page.next {
            let following = try await listVersions(from: next)
            try await body(page.entries)
            page = following
        }
        try await body(page.entries)
    }

    /// Removes objects one by one with all their versions.
    ///
    /// - Returns: the keys of which something is still there, each with the reason.
    /// - Throws: any case of ``S3Error``, when the store did not answer, or all failed.
    func deleteEach(_ objects: [S3Deletion]) async throws(S3Error) -> [String: S3Failure] {
        do {
            return try await withThrowingTaskGroup(of: (String, S3Error)?.self) { group in
                var errors: [(key: String, error: S3Error)] = []
                for (index, object) in objects.enumerated() {
                    if index >= Self.objectsAtOnce, let error = try await group.next() ?? nil { errors.append(error) }
                    group.addTask {
                        do throws(S3Error) {
                            try await delete(key: object.key, versionID: object.versionID)
                            return nil
                        } catch {
                            if error.isMissingBucket || error.failure?.status == nil { throw error }
                            return (object.key, error)
                        }
                    }
                }
                for try await error in group { if let error { errors.append(error) } }
                // One object that the store fails at must not keep the others. A store that fails at all is down.
                if let error = errors.first?.error, errors.count == objects.count, error.isRetryable { throw error }
                let failures = errors.compactMap { key, error in error.failure.map { (key, $0) } }
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
        var first: String?
        while true {
            let page: S3VersionPage
            do {
                page = try await listVersions(prefix: object.key)
            } catch {
                // A store without this call keeps no versions, even if it names some, as Cloudflare R2 does.
                if error.isOfMissingCall { return try await deleteOne(object.current) }
                guard error.isDenial else { throw error }
                return try await deleteKnownVersion(of: object, unlisted: error)
            }
            let versions = page.entries.filter { $0.key == object.key }
                .map { S3Deletion(key: $0.key, versionID: $0.versionID) }
            // The oldest first, and what hides it last: an interruption must not bring an old version back.
            if let failure = try await delete(eachOf: versions.reversed()) { throw .refused(failure) }
            // An object's own versions come before those of longer keys.
            guard page.next != nil, !versions.isEmpty, versions.count == page.entries.count else { return }
            // A store that deletes nothing must not keep us for ever.
            guard versions.first?.versionID != first else { throw .unavailable(S3Failure(cause: S3NoAnswer.malformed)) }
            first = versions.first?.versionID
        }
    }

    /// - Returns: The reason why one of them is still there; nil if none is.
    private func delete(eachOf versions: [S3Deletion]) async throws(S3Error) -> S3Failure? {
        if versions.count > 1 { return try await deleteInBatches(versions).values.first }
        for version in versions { try await deleteOne(version) }
        return nil
    }

    /// Removes the version that is known, and hides others.
    ///
    /// Only this proves that nothing is left: the known version is the current one, and nothing is behind it.
    ///
    /// - Throws: the reason why versions can't be listed, when some may be left.
    private func deleteKnownVersion(of object: S3Deletion, unlisted: S3Error) async throws(S3Error) {
        let info = try await headIfAllowed(key: object.key)
        if let info, info.versionID == nil, !keepsVersions {
            // The id is of another bucket, from which the object was copied.
            return try await deleteOne(object.current)
        }
        if let info, info.versionID == object.versionID {
            try await deleteOne(object)
            if try await headIfAllowed(key: object.key) == nil { return }
        }
        if info != nil { try await deleteOne(object.current) }
        throw unlisted
    }

    /// Without the right to list, AWS answers 403 for an object that is missing.
    private func headIfAllowed(key: String) async throws(S3Error) -> S3ObjectInfo? {
        do {
            return try await head(key: key)
        } catch  where error.isDenial {
            return nil
        }
    }
}
