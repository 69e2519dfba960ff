import Concurrency
import FoundationEssentials
import ObjectStore
import Postgres
import S3
import SelfiePhotos

/// Compares the photos' rows with the store's objects both ways, and repairs the differences.
///
/// Services may run meanwhile: every difference is checked again before it counts.
struct ReconcilePhotos: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    let sweeper: PhotoSweeper
    let options: ReconciliationOptions
    let now: @Sendable () -> Date
    let onProgress: @Sendable (TaskProgress) -> Void
    let onFinding: @Sendable (ReconciliationFinding) -> Void

    /// How many objects are asked about at a time.
    private static let lookingCount = 8
    /// This few are never suspicious.
    private static let maxUnsuspicious = 10

    /// Compares, and repairs unless it must only look.
    ///
    /// - Parameter report: Gets what was found and repaired, also when this throws.
    /// - Throws: `ReconciliationError`, `ObjectStoreError`, `PostgresError`. Earlier repairs stay.
    func callAsFunction(into report: inout ReconciliationReport) async throws {
        let date = now()
        try await photos.postgres.withConnection { connection in
            let listing = try await ObjectListing(on: connection)
            report.photoCount = try await listing.photoCount()
            try await list(into: listing, &report)
            if options.repairs {
                try await refuseSuspicious(listing, report: &report, date: date)
                // A running service does the same every few seconds. With the wrong store, this would lose deletions.
                try await sweeper.sweep()
            }
            try await compareObjects(listing, into: &report, before: date - TimeInterval(options.minSeconds))
            let lost = try await comparePhotos(listing, into: &report)
            try await comparePuts(into: &report, before: date)
            if options.includesVersions {
                let before = date - TimeInterval(options.minSeconds)
                try await compareVersions(into: &report, before: before, except: lost)
            }
        }
    }

    private func list(into listing: ObjectListing, _ report: inout ReconciliationReport) async throws {
        try await objects.forEachPage { entries in
            try await listing.add(entries)
            report.objectCount += entries.count
            let (done, total) = (report.objectCount, max(report.photoCount, report.objectCount))
            onProgress(TaskProgress(task: "Listing objects", done: done, total: total))
        }
        try await listing.finish()
    }

    /// A wrong database or bucket in the configuration must not cost anybody a photo.
    private func refuseSuspicious(
        _ listing: ObjectListing,
        report: inout ReconciliationReport,
        date: Date
    ) async throws {
        guard !options.isForced else { return }
        let orphans = try await listing.orphanCount(before: date - TimeInterval(options.minSeconds))
        let missing = try await listing.missingCount(minSeconds: options.minSeconds)
        for (kind, count, total) in [
            (ReconciliationReport.Kind.photoWithoutObject, missing, report.photoCount),
            (.objectWithoutPhoto, orphans, report.objectCount),
        ] where count > Self.maxUnsuspicious && count * 2 > total {
            report[.photoWithoutObject].found = missing
            report[.objectWithoutPhoto].found = orphans
            throw ReconciliationError.suspicious(kind: kind, count: count, of: total)
        }
    }

    private func compareObjects(
        _ listing: ObjectListing,
        into report: inout ReconciliationReport,
        before date: Date
    ) async throws {
        var last = ""
        while true {
            let page = try await listing.orphans(before: date, after: last)
            guard let end = page.last else { return }
            last = end
            // The list is older. The object may have been deleted meanwhile.
            let orphans = try await lengths(of: page).filter { $0.value != nil }.map(\.key).sorted()
            let failures =
                options.repairs ? try await objects.delete(orphans.map { ObjectDeletion(key: $0) }) : [:]
            for key in orphans {
                note(.objectWithoutPhoto, key, isRepaired: options.repairs && failures[key] == nil, in: &report)
            }
        }
    }

    /// - Returns: The keys of missing objects.
    private func comparePhotos(
        _ listing: ObjectListing,
        into report: inout ReconciliationReport
    ) async throws -> Set<String> {
        var (last, lost) = ("", Set<String>())
        while true {
            let page = try await listing.mismatches(minSeconds: options.minSeconds, after: last)
            guard let end = page.last else { return lost }
            last = end.key
            let lengths = try await lengths(of: page.map(\.key))
            for mismatch in page {
                let length = lengths[mismatch.key] ?? nil
                // It may have been stored after the list passed its key, or deleted meanwhile.
                guard length == nil || mismatch.byteCount.map({ $0 != length }) == true,
                    try await photos.isReady(key: mismatch.key)
                else { continue }
                if mismatch.isSmall {
                    let isRepaired = options.repairs ? try await photos.forgetRendition(key: mismatch.key) : false
                    note(.renditionWithoutObject, mismatch.randomID, isRepaired: isRepaired, in: &report)
                } else if length == nil {
                    lost.insert(mismatch.key)
                    let isRepaired = options.repairs ? try await photos.removeLost(key: mismatch.key) : false
                    note(.photoWithoutObject, mismatch.randomID, isRepaired: isRepaired, in: &report)
                } else {
                    note(.otherLength, mismatch.randomID, isRepaired: false, in: &report)
                }
            }
        }
    }

    private func comparePuts(into report: inout ReconciliationReport, before date: Date) async throws {
        // Never younger than this: such a put may still be running.
        let begun = date - TimeInterval(max(options.minSeconds, PhotoStore.maxPendingInPartsSeconds))
        try await objects.forEachPageOfUnfinishedPuts { page in
            for put in page where put.begun <= begun {
                // The store's clock may be wrong, but the photo's row is certain.
                if try await isPending(put) { continue }
                let isRepaired = options.repairs ? try await objects.abandon(put) : false
                note(.unfinishedPut, put.key, isRepaired: isRepaired, in: &report)
            }
        }
    }

    private func isPending(_ put: UnfinishedPut) async throws -> Bool {
        for key in put.spellings where try await photos.isPending(key: key) { return true }
        return false
    }

    /// Versions that a deletion left in the store, and the markers that hide them.
    ///
    /// Those of a photo that has a row stay until it is deleted.
    ///
    /// Those of a missing object may be all that is left of it. They stay in this run, for a restore.
    private func compareVersions(
        into report: inout ReconciliationReport,
        before date: Date,
        except lost: Set<String>
    ) async throws {
        if options.repairs { try await refuseSuspiciousVersions(in: &report, before: date, except: lost) }
        try await forEachPageOfLeftVersions(before: date, except: lost) { versions in
            // The versions of one key go in the right order, with those of other pages.
            let keys = Set(versions.map(\.key)).sorted().map { ObjectDeletion(key: $0) }
            let failures = options.repairs ? try await objects.delete(keys) : [:]
            for version in versions {
                let isRepaired = options.repairs && failures[version.key] == nil
                note(.versionWithoutPhoto, version.key, isRepaired: isRepaired, in: &report)
            }
        }
    }

    /// A wrong database must not cost anybody what is left of photos that are lost.
    private func refuseSuspiciousVersions(
        in report: inout ReconciliationReport,
        before date: Date,
        except lost: Set<String>
    ) async throws {
        guard !options.isForced else { return }
        var (versionCount, keyCount, lastKey) = (0, 0, "")
        try await forEachPageOfLeftVersions(before: date, except: lost) { versions in
            versionCount += versions.count
            for version in versions where version.key != lastKey { (keyCount, lastKey) = (keyCount + 1, version.key) }
        }
        guard keyCount > max(Self.maxUnsuspicious, report.photoCount) else { return }
        report[.versionWithoutPhoto].found = versionCount
        throw ReconciliationError.suspicious(kind: .versionWithoutPhoto, count: keyCount, of: report.photoCount)
    }

    private func forEachPageOfLeftVersions(
        before date: Date,
        except lost: Set<String>,
        _ body: ([ObjectVersion]) async throws -> Void
    ) async throws {
        try await objects.forEachPageOfVersions { page in
            let old = page.filter { $0.modified <= date }
            let removed = try await photos.withoutRows(Set(old.map(\.key)).subtracting(lost))
            let versions = old.filter { removed.contains($0.key) }
            if !versions.isEmpty { try await body(versions) }
        }
    }

    /// The present lengths of some objects; nil for missing ones.
    private func lengths(of keys: [String]) async throws -> [String: Int?] {
        var lengths: [String: Int?] = [:]
        try await forEachResult(
            of: keys,
            atOnce: Self.lookingCount,
            by: { ($0, try await objects.length(key: $0)) }
        ) { key, length in
            lengths[key] = .some(length)
        }
        return lengths
    }

    private func note(
        _ kind: ReconciliationReport.Kind,
        _ key: String,
        isRepaired: Bool,
        in report: inout ReconciliationReport
    ) {
        report[kind].found += 1
        if isRepaired { report[kind].repaired += 1 }
        onFinding(ReconciliationFinding(kind: kind, key: key, isRepaired: isRepaired))
    }
}

/// The options of a comparison.
package struct ReconciliationOptions: Sendable {
    /// Whether differences are repaired.
    let repairs: Bool
    /// Differences younger than this many seconds do not count.
    let minSeconds: Int
    /// Whether to repair even if most of it differs.
    let isForced: Bool
    /// Whether to look at old versions, too.
    let includesVersions: Bool

    /// - Parameters:
    ///   - repairs: Whether differences are repaired.
    ///   - minSeconds: Differences younger than this many seconds do not count; 0 or more.
    ///   - isForced: Whether to repair even if most of it differs.
    ///   - includesVersions: Whether to look at old versions, too.
    package init(repairs: Bool, minSeconds: Int, isForced: Bool, includesVersions: Bool = false) {
        self.repairs = repairs
        self.minSeconds = minSeconds
        self.isForced = isForced
        self.includesVersions = includesVersions
    }
}
