import Concurrency
import FoundationEssentials
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
        from next: PageMarker? = nil,
        prefix: String = ""
    ) async throws(S3Error) -> Page<ObjectVersion, PageMarker> {
        var query = [
            QueryItem("versions"), QueryItem("max-keys", "\(Self.maxPageCount)"), QueryItem("encoding-type", "url"),
        ]
        if !prefix.isEmpty { query.append(QueryItem("prefix", prefix)) }
        if let next {
            query.append(QueryItem("key-marker", next.key))
            // AWS refuses an empty one.
            if !next.id.isEmpty { query.append(QueryItem("version-id-marker", next.id)) }
        }
        let deadline = prefix.isEmpty ? deadlineForMany() : deadline(in: deadlines.call)
        let document = try await page(query, root: "ListVersions", by: deadline)
        do { return try Page(document) } catch { throw .unavailable(S3Failure(cause: error)) }
    }

    /// Goes through all versions and markers, with two pages in memory at a time.
    ///
    /// The body may delete what it gets. A page begins after the last entry of the one before, which some stores must
    /// still find. So the next page is fetched first.
    ///
    /// - Parameter body: takes a page.
    /// - Throws: any case of ``S3Error``, or what the body throws.
    package func forEachPageOfVersions(_ body: ([ObjectVersion]) async throws -> Void) async throws {
        var page: Page<ObjectVersion, PageMarker>
        do throws(S3Error) {
            page = try await listVersions()
        } catch {
            // A store without this call keeps no versions.
            if error.isOfMissingCall, !keepsVersions { return }
            throw error
        }
        while let next = page.next {
            let following = try await listVersions(from: next)
            try await body(page.entries)
            page = following
        }
        try await body(page.entries)
    }

    /// Removes objects one by one with all their versions.
    ///
    /// One object that the store fails at does not keep the others. A store that fails at the first ones is down.
    ///
    /// - Returns: the keys of which something is still there, each with the reason.
    /// - Throws: any case of ``S3Error``, when the call as a whole failed.
    func deleteEach(_ objects: [ObjectDeletion]) async throws(S3Error) -> [String: S3Failure] {
        var (failures, successCount) = ([String: S3Failure](), 0)
        let delete: @Sendable (ObjectDeletion) async -> (String, S3Error?) = { object in
            do throws(S3Error) {
                try await self.delete(key: object.key, versionID: object.versionID)
                return (object.key, nil)
            } catch {
                return (object.key, error)
            }
        }
        do {
            try await forEachResult(of: objects, atOnce: Self.objectsAtOnce, by: delete) { key, error in
                guard let error else { return successCount += 1 }
                guard let failure = error.failure, !error.isMissingBucket else { throw error }
                failures[key] = failure
                let isDown = successCount == 0 && failures.count >= min(Self.objectsAtOnce, objects.count)
                if isDown, error.isRetryable { throw error }
            }
            return failures
        } catch let error as S3Error {
            throw error
        } catch {
            throw .cancelled
        }
    }

    /// Removes all versions of an object.
    ///
    /// Where versions can't be listed, it uses the id that the put returned.
    func deleteVersions(of object: ObjectDeletion) async throws(S3Error) {
        var first: String?
        while true {
            let page: Page<ObjectVersion, PageMarker>
            do {
                page = try await listVersions(prefix: object.key)
            } catch {
                if error.isUnknownCall || error.isOfMissingCall && !keepsVersions {
                    // A store without this call keeps no versions, even if it names some, as Cloudflare R2 does.
                    return try await hide(object, unless: error)
                }
                guard error.isDenial else { throw error }
                return try await deleteKnownVersion(of: object, unlisted: error)
            }
            let versions = page.entries.filter { $0.key == object.key }
            guard let newest = versions.first else { return try await deleteUnlisted(object, isLast: page.next == nil) }
            try await delete(versions.dropFirst().reversed(), thenNewest: newest)
            // An object's own versions come before those of longer keys.
            guard page.next != nil, versions.count == page.entries.count else { return }
            // A store that deletes nothing must not keep us for ever.
            guard newest.versionID != first else { throw .unavailable(S3Failure(cause: S3NoAnswer.malformed)) }
            first = newest.versionID
        }
    }

    /// Deletes versions, the oldest first, and what hides them last: an interruption must not bring one back.
    private func delete(
        _ older: [ObjectVersion],
        thenNewest newest: ObjectVersion
    ) async throws(S3Error) {
        do throws(S3Error) {
            let versions = older.map { ObjectDeletion(key: $0.key, versionID: $0.versionID) }
            if versions.count > 1 {
                if let failure = try await deleteInBatches(versions).values.first { throw S3Error(failure) }
            } else {
                for version in versions { try await deleteOne(version) }
            }
            try await deleteOne(ObjectDeletion(key: newest.key, versionID: newest.versionID))
        } catch {
            // A version that may not be deleted can still be hidden.
            if newest.isCurrent { _ = try? await deleteOne(ObjectDeletion(key: newest.key)) }
            throw error
        }
    }

    /// Makes sure that the store has no object whose versions are not listed.
    private func deleteUnlisted(_ object: ObjectDeletion, isLast: Bool) async throws(S3Error) {
        if object.versionID != nil { try await deleteOne(object) }
        let isThere = try await headIfAllowed(key: object.key) != nil
        if isThere { try await deleteOne(object.current) }
        // A list may lag behind. One with no entry and a next page may have some there.
        guard !isThere, isLast else { throw .unavailable(S3Failure(cause: S3NoAnswer.malformed)) }
    }

    /// Deletes the current version.
    ///
    /// - Throws: the given error, when the answer shows that older ones are left.
    private func hide(_ object: ObjectDeletion, unless error: S3Error) async throws(S3Error) {
        if VersionHeaders.haveMarker(try await deleteOne(object.current)) { throw error }
    }

    /// Removes the version that is known, and hides others.
    ///
    /// Nothing is left only if the known version is the current one, and nothing is behind it.
    ///
    /// - Throws: the reason why versions can't be listed, when some may be left.
    private func deleteKnownVersion(of object: ObjectDeletion, unlisted: S3Error) async throws(S3Error) {
        let info = try await headIfAllowed(key: object.key)
        if let info, info.versionID == nil, !keepsVersions {
            // The id is of another bucket, from which the object was copied.
            return try await hide(object, unless: unlisted)
        }
        if object.versionID != nil, info == nil || info?.versionID == object.versionID {
            try await deleteOne(object)
            // An object that was hidden before may have more versions.
            if info != nil, try await headIfAllowed(key: object.key) == nil { return }
        }
        if info != nil { try await deleteOne(object.current) }
        throw unlisted
    }

    /// Without the right to list, AWS answers 403 for an object that is missing.
    private func headIfAllowed(key: String) async throws(S3Error) -> S3ObjectInfo? {
        do {
            return try await head(key: key)
        } catch {
            guard error.isDenial else { throw error }
            return nil
        }
    }
}
