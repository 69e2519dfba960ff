import Concurrency
import ImageFiles
import NIOCore
import ObjectStore
import Postgres
import S3
import SelfiePhotos

/// Copies the photos' objects from one store to the other, while services still use the first.
///
/// Photos that both stores have are not copied again. So another run continues one that was interrupted.
struct CopyPhotos: Sendable {
    let photos: PhotoStore
    let disk: DiskObjectStore
    let bucket: S3ObjectStore
    let direction: CopyDirection
    let onProgress: @Sendable (TaskProgress) -> Void
    let onOutcome: @Sendable (CopyOutcome, String) -> Void

    /// How many photos are on their way at a time.
    private static let copiesInFlight = 4
    /// How often it searches for photos that were uploaded meanwhile.
    private static let maxPasses = 10

    private var source: any ObjectStore { direction == .s3 ? disk : bucket }
    private var destination: any ObjectStore { direction == .s3 ? bucket : disk }

    /// Copies all photos, with those that are uploaded meanwhile.
    ///
    /// - Parameter report: Gets how many photos had each outcome, also when this throws.
    /// - Throws: `ObjectStoreError`, `PostgresError`. Photos that were copied stay copied.
    func callAsFunction(into report: inout OutcomeCounts<CopyOutcome>) async throws {
        // Parallel puts into a missing bucket would all be refused first.
        if direction == .s3 { try await bucket.makeBucketIfMissing() }
        try await photos.postgres.withConnection { connection in
            let list = try await CopyList(on: connection)
            var done = 0
            for _ in 0..<Self.maxPasses {
                let before = done
                var last = 0
                while let page = try await list.page(after: last), let end = page.last {
                    last = end.photoID
                    let total = try await max(list.objectCount(), done)
                    try await copy(page) { outcome, object in
                        done += 1
                        report[outcome] += 1
                        onOutcome(outcome, object.randomID)
                        onProgress(TaskProgress(task: "Copying photos", done: done, total: max(total, done)))
                    }
                    try await list.note(page)
                }
                if done == before { break }
            }
            try await removeDeleted(list)
        }
    }

    /// Deletes copies of photos that a service deleted after they were copied.
    private func removeDeleted(_ list: CopyList) async throws {
        var last = ""
        while true {
            let page = try await list.deleted(after: last)
            guard let end = page.last else { return }
            last = end
            for (_, failure) in try await destination.delete(page.map { ObjectDeletion(key: $0) }) {
                throw ObjectStoreError.refused(failure)
            }
        }
    }

    private func copy(_ page: [CopyList.Object], note: (CopyOutcome, CopyList.Object) -> Void) async throws {
        try await forEachResult(of: page, atOnce: Self.copiesInFlight, by: { (try await copy($0), $0) }, note)
    }

    private func copy(_ listed: CopyList.Object) async throws -> CopyOutcome {
        let key = listed.key
        if try await bothHave(key) { return .alreadyThere }
        guard let object = try await source.spooled(key: key) else {
            if try await destination.length(key: key) != nil { return .alreadyThere }
            return try await photos.isReady(key: key) ? try await lost(key, .missing) : .deleted
        }
        guard listed.byteCount == nil || listed.byteCount == object.length else { return try await lost(key, .damaged) }
        var contentType = listed.contentType
        if contentType == nil { contentType = try await object.imageFormat()?.contentType }
        try await destination.put(object, key: key, contentType: contentType ?? ServedPhoto.unknownContentType)
        // A put to the bucket compares by itself. A file is read again.
        if direction == .disk, try await disk.digest(of: key)?.sha256Hex != object.digests().sha256Hex {
            throw ObjectStoreError.unavailable(S3NoAnswer.otherBytes)
        }
        // A service may have deleted its photo meanwhile, without knowing of the copy.
        guard try await photos.isReady(key: key) else {
            try await destination.delete(ObjectDeletion(key: key))
            return .deleted
        }
        return .copied
    }

    /// The outcome for an object that can't be copied: a small picture can be made again.
    private func lost(_ key: String, _ outcome: CopyOutcome) async throws -> CopyOutcome {
        try await photos.forgetRendition(key: key) ? .forgotten : outcome
    }

    /// Reads only the folder's bytes: a bucket reports its digest.
    private func bothHave(_ key: String) async throws -> Bool {
        guard let digests = try await disk.digest(of: key), let length = try await disk.length(key: key) else {
            return false
        }
        return try await bucket.holds(key: key, length: length, digests: digests)
    }
}
