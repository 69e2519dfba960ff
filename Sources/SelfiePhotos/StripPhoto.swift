import Cryptography
import ImageFiles
package import ObjectStore
import S3

/// Removes the metadata of a photo that was stored with it.
///
/// The photo gets a new object. Its old one stays for as long as redirects lead to it.
package struct StripPhoto: Sendable {
    let photos: PhotoStore
    let objects: any ObjectStore
    let isDryRun: Bool

    /// The outcome for a photo.
    package enum Outcome: Int, CaseIterable, Sendable {
        /// It had metadata, which is gone.
        case stripped
        /// It had none.
        case clean
        /// It was deleted, or another process stripped it.
        case done
        /// It is no photo of a known format, or is damaged. It stays as it is.
        case noImage
        /// Its object is missing.
        case missing
        /// The store has its object but does not return it, for example from an archive.
        case refused
    }

    /// - Parameters:
    ///   - photos: The rows.
    ///   - objects: The store.
    ///   - isDryRun: Whether to look only.
    package init(photos: PhotoStore, objects: any ObjectStore, isDryRun: Bool) {
        self.photos = photos
        self.objects = objects
        self.isDryRun = isDryRun
    }

    /// Strips a photo.
    ///
    /// - Parameter randomID: The photo's id.
    /// - Returns: The outcome. In a dry run, it is what the outcome would be.
    /// - Throws: `ObjectStoreError`, `PostgresError`, or what a temporary file throws. The photo opens as before.
    package func callAsFunction(_ randomID: String) async throws -> Outcome {
        guard let photo = try await photos.unstripped(randomID) else { return .done }
        let object: SpooledObject?
        do {
            object = try await objects.spooled(key: photo.objectKey)
        } catch ObjectStoreError.refused {
            // Wrong keys and the like are refused again, and end the whole run.
            return try await objects.length(key: photo.objectKey) == nil ? .missing : .refused
        }
        guard let object else { return try await photos.unstripped(randomID) == nil ? .done : .missing }
        guard let image = try await object.image(), let stripped = try await object.withoutMetadata() else {
            return .noImage
        }
        if try await Self.areEqual(stripped, object) {
            if !isDryRun { try await photos.noteStripped(randomID, key: photo.objectKey) }
            return .clean
        }
        if isDryRun { return .stripped }
        return try await replace(randomID, photo.objectKey, by: objects.hashed(stripped), image) ? .stripped : .done
    }

    private static func areEqual(_ stripped: SpooledObject, _ object: SpooledObject) async throws -> Bool {
        guard stripped.length == object.length else { return false }
        return try await stripped.digests().sha256Hex == object.digests().sha256Hex
    }

    private func replace(
        _ randomID: String,
        _ oldKey: String,
        by object: SpooledObject,
        _ image: ImageFile
    ) async throws -> Bool {
        let newKey = RandomIdentifier.makeSecret()
        try await photos.announceReplacement(newKey)
        let contentType = image.format.contentType
        let versionID = try await objects.put(object, key: newKey, contentType: contentType)
        let facts = PhotoFacts(contentType: contentType, byteCount: object.length, size: image.size)
        if try await photos.replaceObject(of: randomID, oldKey, by: newKey, versionID: versionID, facts: facts) {
            return true
        }
        try await photos.withdrawReplacement(newKey, versionID: versionID)
        return false
    }
}
